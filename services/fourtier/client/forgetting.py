"""Forget for good: in every service, with tombstones, so that nothing of it comes back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fourtier.client.erasing import Erasing
from fourtier.client.forgotten import OURS, Forgotten
from fourtier.client.memory import ScopedCalls
from fourtier.schema.erasure import Erased, EraseResponse
from fourtier.schema.facts import GET_FACT, RETRIEVE_FACTS, Fact, Statement
from fourtier.schema.message import MAX_ITEMS, Scope

#: What is learned from conversations; all other services store what was said.
_LEARNED = ("facts", "episodes")
#: Services whose selection `Forget.facts` makes for each of them.
_SELECTED_APART = ("facts", "episodes", "conversations")


def statements_of(facts: Iterable[Fact]) -> list[Fact | Statement]:
    """Each time that one of the facts was said."""
    found: list[Fact | Statement] = []
    for fact in facts:
        found += [fact, *fact.earlier]
    return found


def texts_of(facts: Sequence[Fact]) -> tuple[str, ...]:
    """The words of facts, and those in which they were said."""
    contents = [fact.content for fact in facts]
    quotes = [each.quote for each in statements_of(facts)]
    return tuple(dict.fromkeys(text for text in (*contents, *quotes) if text))


class Forget(ScopedCalls):
    """Forgets what was said until now; what is said later is remembered.

    With `dry_run` each method deletes nothing, and says what it would delete. Each service of the
    flow that declares an erasure is asked, those of other packages too, one after the other. After
    an error call again: what is gone is gone.

    Every method raises `CallFailedError` when a service answers with an error,
    `DeadlineExceededError` when one does not answer, and `BusError` when the broker fails.
    """

    async def everything(self, scope: Scope, *, dry_run: bool = False) -> Forgotten:
        """Forget all of a user's collection."""
        return await self._everywhere(scope, everything=True, dry_run=dry_run)

    async def conversation(
        self,
        scope: Scope,
        conversation_id: str,
        *,
        keep_learned: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Forget what was said in a conversation, and what was learned from it.

        With `keep_learned` facts and episodes that are stored by now stay.
        """
        erasing = await self._erasing(scope, dry_run=dry_run)
        would = await erasing.of("conversations", look=True, conversation_id=conversation_id)
        runs = tuple(each.invocation_id for each in would.erased)
        kept = _LEARNED if keep_learned else ()
        return await _forget_said(erasing, runs, without=kept, conversation_id=conversation_id)

    async def fact(self, scope: Scope, fact_id: str, *, dry_run: bool = False) -> Forgotten:
        """Forget a fact, the exchanges that said it or had it in their prompt, and what repeats it.

        An answer to a prompt with the fact may tell the fact in any words.
        """
        known = await self.known(scope, [fact_id])
        return await self.facts(scope, known, fact_id, dry_run=dry_run)

    async def facts(
        self, scope: Scope, facts: Sequence[Fact], *more_ids: str, dry_run: bool = False
    ) -> Forgotten:
        """Forget some facts, as `fact` does with one."""
        erasing = await self._erasing(scope, dry_run=dry_run)
        ids = tuple(dict.fromkeys([*(fact.id for fact in facts), *more_ids]))
        texts = texts_of(facts)
        statements = statements_of(facts)
        said = dict.fromkeys(each.invocation_id for each in statements if each.invocation_id)
        told = await _told(erasing, ids, tuple(said), texts)
        runs = dict.fromkeys([*said, *(each.invocation_id for each in told.erased)])
        by_conversation: dict[str, list[str]] = {}
        for conversation, run in [
            *((each.source, each.invocation_id) for each in statements),
            *((each.conversation_id, each.invocation_id) for each in told.erased),
        ]:
            if conversation and run:
                by_conversation.setdefault(conversation, []).append(run)
        selected: dict[str, Any] = {"ids": tuple(runs)[:MAX_ITEMS], "containing": texts}
        erased = await erasing.everywhere(without=_SELECTED_APART, **selected)
        erased["episodes"] = await _erase_episodes(erasing, by_conversation, texts, dry_run=dry_run)
        # The record goes last: where this is cut off, it still says which exchanges were meant.
        erased["conversations"] = await erasing.of("conversations", **selected)
        erased["facts"] = await erasing.of("facts", ids=ids)
        if dry_run or max(told.number, len(runs)) <= MAX_ITEMS:
            return Forgotten(erased)
        return Forgotten(erased) + await self.facts(scope, facts, *more_ids)

    async def document(self, scope: Scope, document: str, *, dry_run: bool = False) -> Forgotten:
        """Forget a document of the archive by its name; what was said about it stays."""
        return await self._named(scope, "archive", document=document, dry_run=dry_run)

    async def episode(self, scope: Scope, episode_id: str, *, dry_run: bool = False) -> Forgotten:
        """Forget one episode."""
        return await self._named(scope, "episodes", ids=(episode_id,), dry_run=dry_run)

    async def exchanges(
        self,
        scope: Scope,
        conversation_id: str,
        invocation_ids: Sequence[str],
        *,
        dry_run: bool = False,
    ) -> Forgotten:
        """Forget exchanges of a conversation, and what was learned from them."""
        runs = tuple(invocation_ids)
        erasing = await self._erasing(scope, dry_run=dry_run)
        return await _forget_said(
            erasing, runs, conversation_id=conversation_id, invocation_ids=runs
        )

    async def containing(
        self, scope: Scope, texts: Sequence[str], *, dry_run: bool = False
    ) -> Forgotten:
        """Forget all that has one of some texts in it; case, spacing and marks do not count."""
        return await self._everywhere(scope, containing=tuple(texts), dry_run=dry_run)

    async def known(self, scope: Scope, fact_ids: Sequence[str]) -> list[Fact]:
        """The facts of some ids that there are."""
        found = [await self._call(GET_FACT, scope, fact_id=each) for each in fact_ids]
        return [each.fact for each in found if each.fact is not None]

    async def matching(self, scope: Scope, text: str, *, limit: int = 10) -> tuple[Fact, ...]:
        """The facts that are about a text, best first, for `facts` to forget those that it means.

        Those are facts that have most of its words, and those whose meaning is as near as that of
        the nearest; where nothing is about it there are none.
        """
        found = await self._call(RETRIEVE_FACTS, scope, query=text, top_k=limit, only_about=True)
        return found.facts

    async def _everywhere(self, scope: Scope, *, dry_run: bool, **selected: Any) -> Forgotten:
        """Erase the same in every service."""
        erasing = await self._erasing(scope, dry_run=dry_run)
        return Forgotten(await erasing.everywhere(**selected))

    async def _named(
        self, scope: Scope, service: str, *, dry_run: bool, **selected: Any
    ) -> Forgotten:
        """Erase what one service stores, and what services of other packages have of it."""
        erasing = await self._erasing(scope, dry_run=dry_run)
        return Forgotten(await erasing.everywhere(without=OURS - {service}, **selected))

    async def _erasing(self, scope: Scope, *, dry_run: bool) -> Erasing:
        return await Erasing.begin(self._caller, scope, dry_run=dry_run)


async def _forget_said(
    erasing: Erasing, runs: Sequence[str], *, without: Sequence[str] = (), **selected: Any
) -> Forgotten:
    """Forget exchanges of a conversation; a run in working memory does not know its conversation.

    The record goes last: where this is cut off, it still says which runs were meant.
    """
    last = ("working-memory", "conversations")
    erased = await erasing.everywhere(without=(*without, *last), **selected)
    erased["working-memory"] = await erasing.of("working-memory", ids=tuple(runs))
    erased["conversations"] = await erasing.of("conversations", **selected)
    return Forgotten(erased)


async def _told(
    erasing: Erasing, ids: Sequence[str], said: Sequence[str], texts: Sequence[str]
) -> EraseResponse:
    """The exchanges that said facts, repeat them or had their words in the prompt.

    Args:
        erasing: asks the services.
        ids: of the facts.
        said: the ids of the exchanges in which they were said.
        texts: their words.
    """
    entries = await erasing.of("archive", look=True, ids=said, containing=texts)
    memories = [*ids, *(each.id for each in entries.erased)]
    return await erasing.of(
        "conversations",
        look=True,
        ids=said,
        containing=texts,
        prompted_with=tuple(memories[:MAX_ITEMS]),
    )


async def _erase_episodes(
    erasing: Erasing,
    runs: Mapping[str, Sequence[str]],
    texts: Sequence[str],
    *,
    dry_run: bool,
) -> EraseResponse:
    """Erase the episodes that repeat texts, and those made from some exchanges.

    A model may have described the exchanges in its own words, without any of the texts.

    Args:
        erasing: asks the services.
        runs: the exchanges, by their conversation.
        texts: words of facts.
        dry_run: only say which.
    """
    selections: list[dict[str, Any]] = [{"containing": texts}] if texts else []
    selections += [
        {"conversation_id": conversation, "invocation_ids": tuple(dict.fromkeys(of_it))}
        for conversation, of_it in runs.items()
    ]
    found: dict[str, Erased] = {}
    number = 0
    for selected in selections:
        done = await erasing.of("episodes", **selected)
        number += done.number
        found |= {each.id: each for each in done.erased}
    # Deleted once they are not there the second time; a dry run finds them again.
    number = len(found) if dry_run and number < MAX_ITEMS else number
    return EraseResponse(number=number, erased=tuple(found.values())[:MAX_ITEMS])
