"""What is wrong with something that was given, in words for who gave it."""

from pydantic import ValidationError


def in_words(error: ValidationError, whole: str, inside: str = "") -> str:
    """Name each wrong field and what is wrong about it, without repeating what was given.

    Args:
        error: what pydantic found.
        whole: stands for the field where the thing itself is wrong, such as "payload".
        inside: where the thing stands in a larger one, such as "services.facts".
    """
    return "; ".join(
        f"{_name_of(item['loc'], inside) or whole}: {item['msg'].removeprefix('Value error, ')}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _name_of(loc: tuple[int | str, ...], inside: str) -> str:
    return ".".join([*([inside] if inside else []), *map(str, loc)])
