"""Which services there are: the entry points of group `fourtier.services`."""

import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points

from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.declaration import Handler, Service

GROUP = "fourtier.services"


def service_names() -> list[str]:
    """All installed services, in alphabetical order."""
    return sorted({entry.name for entry in _installed(tuple(sys.path))})


def load_service(name: str) -> type[Service]:
    """Import a service's class by its name.

    Raises:
        StartupError: no such service is installed, it cannot be imported, or it is not a service of
            that name.
    """
    found = list(_installed(tuple(sys.path)).select(name=name))
    if not found:
        raise StartupError(f"there is no service {name!r}; there are: {', '.join(service_names())}")
    try:
        service = found[0].load()
    except ImportError as error:
        raise StartupError(f"the service {name!r} cannot be loaded: {error}") from error
    if not (isinstance(service, type) and issubclass(service, Service)):
        raise StartupError(f"the entry point {found[0].value} of {name!r} is not a Service")
    if service.name != name:
        raise StartupError(f"the service {name!r} calls itself {service.name!r}: use one name")
    return service


def declared_handlers(services: Iterable[str]) -> Iterator[tuple[str, Handler]]:
    """What each of the services handles, read from their classes.

    Raises:
        StartupError: as `load_service`.
    """
    for name in services:
        for handler in load_service(name).handlers():
            yield name, handler


@lru_cache(maxsize=1)
def _installed(_places: tuple[str, ...]) -> EntryPoints:
    """The entry points in these places: to find them is to read the list of each package there."""
    return entry_points(group=GROUP)
