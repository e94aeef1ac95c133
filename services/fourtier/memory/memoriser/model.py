"""Method `llm`: a model writes one paragraph about the page.

What it writes is never taken on trust: a sentence with a name or a number that neither the page nor
a memo that was shown has is dropped, and so is an order to the assistant. A memo that loses half of
its words by that is rejected, and asked for once more.
"""

import logging

from pydantic import BaseModel, ConfigDict, Field

from fourtier.memory.learning.commands import UNSUPPORTED
from fourtier.memory.memoriser.context import Context, find_context
from fourtier.memory.memoriser.memo import WrittenMemo
from fourtier.memory.memoriser.page import ClosedPage
from fourtier.memory.statements.sentences import sentences
from fourtier.models.text.grounding import not_said
from fourtier.models.text.instructions import is_order_to_assistant
from fourtier.models.text.prompts import Prompt, read_prompt
from fourtier.models.text.quoting import in_one_line, label, quoted
from fourtier.models.text.structured import BadOutputError, StructuredModel, Usage
from fourtier.models.text.tokens import clip, count_tokens
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.archive import MAX_MEMO, ArchiveEntry

log = logging.getLogger(__name__)

#: How often the model is asked until its answer has the form; and for another memo.
_ATTEMPTS, _MEMOS = 3, 2
#: Of a memo's tokens as many must be left when what was not said is dropped.
_LEFT = 0.5
#: What was not said, as the model is told.
_NAMED = 10


class ModelMemo(BaseModel):
    """What the model is asked for; what it adds of its own is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    memo: str = Field(description="one paragraph that is understood by itself")


class MemoByModel:
    """Asks the model.

    Args:
        page_tokens: that the model is shown of the page.
        context_tokens: and of other memos.
        memo_tokens: that a memo may have.
        prompt: what the flow has instead of the instructions.

    Raises:
        StartupError: the flow names a prompt that cannot be read, or is empty.
    """

    def __init__(
        self,
        caller: Caller,
        *,
        page_tokens: int,
        context_tokens: int,
        memo_tokens: int,
        prompt: Prompt | None,
    ) -> None:
        self._caller = caller
        self._page_tokens = page_tokens
        self._context_tokens = context_tokens
        self._memo_tokens = memo_tokens
        self._prompt = read_prompt("fourtier.memory.memoriser", "memo", prompt)

    async def write(self, page: ClosedPage) -> WrittenMemo:
        """One paragraph.

        Raises:
            BadOutputError: the model writes what was not said, or nothing.
            CallFailedError, DeadlineExceededError: the model, or the archive, cannot be used.
        """
        context = await find_context(self._caller, page, self._context_tokens)
        usage, said = Usage(), f"{page.said}\n{context.said}"
        model = StructuredModel(self._caller, _ATTEMPTS, usage)
        shown, rejected = self._shown(page, context), ""
        for _ in range(_MEMOS):
            written = (await model.ask(self._prompt, f"{shown}{rejected}", ModelMemo)).memo
            text = self._checked(written, said)
            if text:
                return WrittenMemo(text, "llm", usage.model, context.ids)
            unsaid = ", ".join(not_said(written, said)[:_NAMED])
            rejected = f"\n\nYour last memo was rejected. Not in the entries: {in_one_line(unsaid)}"
        raise BadOutputError("the model's memo says what the page does not")

    def _shown(self, page: ClosedPage, context: Context) -> str:
        each = max(1, self._page_tokens // len(page.entries))
        entries = _fitting([_line(entry) for entry in page.entries], self._page_tokens, each)
        about = f"The page, of {label(page.about.source)}:\n{quoted('archive', entries)}"
        known = context.shown()
        return f"Memos of other pages:\n{known or 'none'}\n\n{about}"

    def _checked(self, written: str, said: str) -> str:
        """The sentences that were said, as many as a memo may have; empty if too few are."""
        retained: list[str] = []
        left, dropped = self._memo_tokens, 0
        for sentence in sentences(in_one_line(written)):
            cost = count_tokens(sentence)
            if not_said(sentence, said) or is_order_to_assistant(sentence):
                UNSUPPORTED.add(1, {})
                dropped += cost
            elif cost <= left:
                left -= cost
                retained.append(sentence)
        tokens = self._memo_tokens - left
        log.info("Of a memo of the model %d tokens are kept, %d were not said.", tokens, dropped)
        return " ".join(retained)[:MAX_MEMO] if tokens >= _LEFT * (tokens + dropped) else ""


def _line(entry: ArchiveEntry) -> str:
    who = label(entry.speaker) or label(entry.source)
    return f"{entry.timestamp:%Y-%m-%d} {who}: {entry.content}"


def _fitting(lines: list[str], tokens: int, each: int) -> list[str]:
    """All lines if they fit, else the beginning of each."""
    if sum(map(count_tokens, lines)) <= tokens:
        return lines
    return [clip(line, each) for line in lines]
