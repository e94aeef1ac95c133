"""When two statements are the same fact."""

import re
import unicodedata
import uuid

from fourtier.schema.message import Scope

_NAMESPACE = uuid.UUID("5b1d3b8e-6f0c-5f3e-9a3c-0f2d4f7a61c4")
_SPACE = re.compile(r"\s+")


def normalised(content: str) -> str:
    """The statement without what does not change its meaning: case, spacing, a final stop."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", content)).strip()
    return text.rstrip(".!;, ").casefold()


def fact_id(scope: Scope, content: str) -> str:
    """A UUID that is the same whenever the same statement is made in the same scope."""
    return str(uuid.uuid5(_NAMESPACE, f"{scope.key}\n{normalised(content)}"))
