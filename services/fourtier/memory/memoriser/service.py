"""`memoriser`: says in a few sentences what each closed page of the archive is about.

It stores nothing: the memo goes to the archive, which deletes it with what it was made from, and
tells of the page again.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Literal, Self

from pydantic import Field

from fourtier.memory.learning.model_method import COMPLETION_SECONDS, HANDLER_SECONDS
from fourtier.memory.memoriser.fallback import ModelWithRule
from fourtier.memory.memoriser.memo import Method, WrittenMemo
from fourtier.memory.memoriser.model import MemoByModel
from fourtier.memory.memoriser.page import ClosedPage, read_page
from fourtier.memory.memoriser.rule import MemoByRule
from fourtier.models.completion.named_model import names_endpoint
from fourtier.models.text.prompts import Prompt
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.service import (
    Caller,
    DeploymentProfile,
    Parameters,
    Service,
    ServiceContext,
    on,
)
from fourtier.runtime.settings import Settings
from fourtier.schema.archive import (
    PAGE_CLOSED,
    SET_MEMO,
    PageClosed,
    SetMemoRequest,
    SetMemoResponse,
)

log = logging.getLogger(__name__)

#: That the model may take for one memo.
_SECONDS = 2 * COMPLETION_SECONDS


class MemoriserParameters(Parameters):
    """How memos are made."""

    method: Literal["auto", "rule", "llm"] = Field(
        default="auto",
        description="`llm` asks the flow's model, `rule` quotes the page; `auto` asks the model "
        "where the environment names one",
    )
    max_concurrency: int = Field(
        default=4, ge=1, description="memos that are made at once, of one user's collection one"
    )
    context_tokens: int = Field(
        default=2_000, ge=0, description="of other memos that the model is shown beside a page"
    )
    page_tokens: int = Field(default=6_000, ge=200, description="that the model is shown of a page")
    memo_tokens: int = Field(
        default=300, ge=50, le=1_000, description="of a memo that the model writes"
    )
    prompts: dict[Literal["memo"], Prompt] = Field(
        default={}, description="instead of that which the model is asked with"
    )
    model_outage_seconds: float = Field(
        default=300,
        ge=0,
        description="for how long pages wait for a model that is unavailable; then the rule makes "
        "their memos",
    )

    def asks_model(self, settings: Settings) -> bool:
        """Whether a model is asked. Only the environment of this process counts for `auto`."""
        return names_endpoint(settings) if self.method == "auto" else self.method == "llm"


class MemoriserService(Service):
    """Hears of pages that are closed and have no memo."""

    name = "memoriser"
    parameters = MemoriserParameters
    deployment = DeploymentProfile(
        backlog_per_replica=32, drives=["completion"], starts_after=["archive"]
    )

    def __init__(
        self,
        caller: Caller,
        privacy: Privacy,
        parameters: MemoriserParameters,
        method: Method,
        rule: Method,
    ) -> None:
        self._caller = caller
        self._privacy = privacy
        self._method = method
        self._rule = rule
        self.settings = parameters

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: ServiceContext, parameters: MemoriserParameters
    ) -> AsyncGenerator[Self]:
        """Choose the method."""
        rule = MemoByRule()
        model = ModelWithRule(
            cls.name,
            model=MemoByModel(
                context.caller,
                page_tokens=parameters.page_tokens,
                context_tokens=parameters.context_tokens,
                memo_tokens=parameters.memo_tokens,
                prompt=parameters.prompts.get("memo"),
            ),
            rule=rule,
            seconds=_SECONDS,
            outage_seconds=parameters.model_outage_seconds,
        )
        by_model = parameters.asks_model(context.settings)
        log.info("Memos are made %s.", "by the model" if by_model else "by rule: none is asked")
        method = model if by_model else rule
        yield cls(context.caller, context.privacy, parameters, method, rule)

    @on(
        PAGE_CLOSED,
        max_concurrency=attrgetter("settings.max_concurrency"),
        timeout=_SECONDS + HANDLER_SECONDS,
    )
    async def memorise(self, event: PageClosed) -> None:
        """Make the memo of a page, unless it has one; a repetition asks no model.

        A model takes its time. Where what it was shown has gone meanwhile, its memo is not stored,
        and another one is made. Of a page that is another by now the archive tells again.
        """
        while page := await read_page(self._caller, self._privacy, event):
            # What was forgotten was a memo's alone: the words of the page itself do not have it.
            method = self._rule if event.reason == "memo-forgotten" else self._method
            answer = await self._set(page, await method.write(page))
            if answer.reason != "shown-changed":
                log.info(
                    "The memo of page %d of %s: %s.",
                    page.about.number,
                    page.about.source,
                    answer.reason or "stored",
                    extra={"user": event.user, "collection": event.collection},
                )
                return

    async def _set(self, page: ClosedPage, memo: WrittenMemo) -> SetMemoResponse:
        request = SetMemoRequest(
            user=page.scope.user,
            collection=page.scope.collection,
            page_id=page.about.id,
            page_hash=page.about.page_hash,
            content=memo.content,
            method=memo.method,
            model=memo.model,
            shown=memo.shown,
        )
        # Before it is on the bus; the ids and the hash stay as they are.
        text = request.model_copy(update={"page_hash": "", "shown": ()})
        content = (await self._privacy.clean(text)).message.content
        return await self._caller.call(SET_MEMO, request.model_copy(update={"content": content}))
