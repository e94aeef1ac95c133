"""The base of what flow files say: strict, frozen, with names in kebab-case."""

from pydantic import BaseModel, ConfigDict


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Config(BaseModel):
    """A section of a flow file, or a service's parameters."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True
    )
