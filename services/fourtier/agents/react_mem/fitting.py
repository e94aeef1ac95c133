"""What texts cost in tokens between fences, and how a long one is cut."""

from collections.abc import Sequence

from fourtier.models.text.quoting import quoted
from fourtier.models.text.tokens import clip, count_tokens

#: What a pair of fences costs.
FENCES = count_tokens('<data from="conversation">\n</data>')
#: Less of an item says nothing; it is left out and not cut.
_MIN_CUT = 40
_CUT_MARK = count_tokens(" … [cut]")


def cost(texts: Sequence[str]) -> int:
    """Tokens of the texts between fences, without the fences."""
    return max(0, count_tokens(quoted("conversation", texts)) - FENCES)


def cut_to_fit(texts: Sequence[str], left: int) -> Sequence[str] | None:
    """Texts cut to half of the tokens that are left together; None where that is too little."""
    room = left // 2 // len(texts) - _CUT_MARK
    return [_cut(text, room) for text in texts] if room >= _MIN_CUT else None


def _cut(text: str, tokens: int) -> str:
    return text if count_tokens(text) <= tokens else f"{clip(text, tokens)} … [cut]"
