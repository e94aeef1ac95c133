"""All topics and calls of Fourtier, read from the modules that declare them."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import fourtier.schema
from fourtier.schema.topics import Call, Topic


def all_declared() -> list[Topic[Any] | Call[Any, Any]]:
    """Every topic and call, in the order of the modules and within each as declared."""
    found: list[Topic[Any] | Call[Any, Any]] = []
    for module in sorted(iter_modules(fourtier.schema.__path__), key=lambda info: info.name):
        members = vars(import_module(f"fourtier.schema.{module.name}"))
        found += [
            value
            for name, value in members.items()
            if name.isupper() and isinstance(value, Topic | Call)
        ]
    return found


def topic_of(declared: Topic[Any] | Call[Any, Any]) -> Topic[Any]:
    """The topic that it travels on."""
    return declared.topic if isinstance(declared, Call) else declared
