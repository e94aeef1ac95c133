"""Which services there are: the entry points of group `fourtier.services`."""

from importlib.metadata import entry_points
from typing import cast

from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.context import ServiceClass

GROUP = "fourtier.services"


def service_names() -> list[str]:
    """All installed services, in alphabetical order."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load_service(name: str) -> ServiceClass:
    """Import a service's class by its name.

    Raises:
        StartupError: no such service is installed, or it cannot be imported.
    """
    found = list(entry_points(group=GROUP, name=name))
    if not found:
        raise StartupError(f"there is no service {name!r}; there are: {', '.join(service_names())}")
    try:
        return cast("ServiceClass", found[0].load())
    except ImportError as error:
        raise StartupError(f"the service {name!r} cannot be loaded: {error}") from error
