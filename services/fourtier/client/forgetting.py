"""Forget for good: in every service, with tombstones, so that nothing of it comes back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourtier.client.memory import ScopedCalls
from fourtier.schema.archive import ERASE_ARCHIVE
from fourtier.schema.erasure import (
    ERASE_CONVERSATIONS,
    ERASE_EPISODES,
    ERASE_FACTS,
    ERASE_WORKING_MEMORY,
    Erased,
    EraseRequest,
    EraseResponse,
)
from fourtier.schema.facts import GET_FACT, RETRIEVE_FACTS, Fact, Statement
from fourtier.schema.message import MAX_ITEMS, Scope
from fourtier.schema.topics import Call

_NOTHING = EraseResponse(number=0)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was deleted by each service, or would be.

    Attributes:
        conversations: exchanges of conversation records, a question with its answer each.
        working_memory: runs, with their steps and answers.
        archive: what was said and read, word for word: questions, results of tools and answers.
    """

    facts: EraseResponse
    episodes: EraseResponse
    conversations: EraseResponse
    working_memory: EraseResponse
    archive: EraseResponse

    @property
    def number(self) -> int:
        """How many memories in all."""
        return sum(part.number for part in self._parts)

    @property
    def _parts(self) -> tuple[EraseResponse, ...]:
        return (
            self.facts,
            self.episodes,
            self.conversations,
            self.working_memory,
            self.archive,
        )

    def __add__(self, other: "Forgotten") -> "Forgotten":
        """Both together."""
        return Forgotten(
            *(
                EraseResponse(
                    number=one.number + two.number, erased=(*one.erased, *two.erased)[:MAX_ITEMS]
                )
                for one, two in zip(self._parts, other._parts, strict=True)
            )
        )


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

    With `dry_run` each method deletes nothing, and says what it would delete. Every service is
    asked in turn; after an error in between, call again: what is gone is gone.
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
        would = await self._erase(
            ERASE_CONVERSATIONS, scope, dry_run=True, conversation_id=conversation_id
        )
        runs = tuple(each.invocation_id for each in would.erased)
        learned = _NOTHING, _NOTHING
        if not keep_learned:
            learned = (
                await self._erase(
                    ERASE_FACTS, scope, dry_run=dry_run, conversation_id=conversation_id
                ),
                await self._erase(
                    ERASE_EPISODES, scope, dry_run=dry_run, conversation_id=conversation_id
                ),
            )
        said = {"conversation_id": conversation_id, "dry_run": dry_run}
        return Forgotten(
            *learned,
            conversations=await self._erase(ERASE_CONVERSATIONS, scope, **said),
            working_memory=await self._erase(
                ERASE_WORKING_MEMORY, scope, dry_run=dry_run, ids=runs
            ),
            archive=await self._erase(ERASE_ARCHIVE, scope, **said),
        )

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
        ids = tuple(dict.fromkeys([*(fact.id for fact in facts), *more_ids]))
        texts = texts_of(facts)
        statements = statements_of(facts)
        said = dict.fromkeys(each.invocation_id for each in statements if each.invocation_id)
        told = await self._told(scope, ids, tuple(said), texts)
        runs = dict.fromkeys([*said, *(each.invocation_id for each in told.erased)])
        by_conversation: dict[str, list[str]] = {}
        for conversation, run in [
            *((each.source, each.invocation_id) for each in statements),
            *((each.conversation_id, each.invocation_id) for each in told.erased),
        ]:
            if conversation and run:
                by_conversation.setdefault(conversation, []).append(run)
        selected = {"ids": tuple(runs)[:MAX_ITEMS], "containing": texts, "dry_run": dry_run}
        # The record goes last: where this is cut off, it still says which exchanges were meant.
        archive = await self._erase(ERASE_ARCHIVE, scope, **selected)
        working_memory = await self._erase(ERASE_WORKING_MEMORY, scope, **selected)
        episodes = await self._erase_episodes(scope, by_conversation, texts, dry_run=dry_run)
        conversations = await self._erase(ERASE_CONVERSATIONS, scope, **selected)
        done = Forgotten(
            facts=await self._erase(ERASE_FACTS, scope, ids=ids, dry_run=dry_run),
            episodes=episodes,
            conversations=conversations,
            working_memory=working_memory,
            archive=archive,
        )
        if dry_run or max(told.number, len(runs)) <= MAX_ITEMS:
            return done
        return done + await self.facts(scope, facts, *more_ids)

    async def _told(
        self, scope: Scope, ids: Sequence[str], said: Sequence[str], texts: Sequence[str]
    ) -> EraseResponse:
        """The exchanges that said facts, repeat them or had their words in the prompt.

        Args:
            scope: of all of them.
            ids: of the facts.
            said: the ids of the exchanges in which they were said.
            texts: their words.
        """
        entries = await self._erase(ERASE_ARCHIVE, scope, ids=said, containing=texts, dry_run=True)
        memories = [*ids, *(each.id for each in entries.erased)]
        return await self._erase(
            ERASE_CONVERSATIONS,
            scope,
            ids=said,
            containing=texts,
            prompted_with=tuple(memories[:MAX_ITEMS]),
            dry_run=True,
        )

    async def _erase_episodes(
        self,
        scope: Scope,
        runs: Mapping[str, Sequence[str]],
        texts: Sequence[str],
        *,
        dry_run: bool,
    ) -> EraseResponse:
        """Those that repeat texts, and those that tell of some exchanges.

        A model may have told of them, or be about to, in words of its own.

        Args:
            scope: of all of them.
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
            done = await self._erase(ERASE_EPISODES, scope, **selected, dry_run=dry_run)
            number += done.number
            found |= {each.id: each for each in done.erased}
        # Deleted once they are not there the second time; a dry run finds them again.
        number = len(found) if dry_run and number < MAX_ITEMS else number
        return EraseResponse(number=number, erased=tuple(found.values())[:MAX_ITEMS])

    async def document(self, scope: Scope, document: str, *, dry_run: bool = False) -> Forgotten:
        """Forget a document of the archive by its name; what was said about it stays."""
        erased = await self._erase(ERASE_ARCHIVE, scope, document=document, dry_run=dry_run)
        return Forgotten(_NOTHING, _NOTHING, _NOTHING, _NOTHING, erased)

    async def episode(self, scope: Scope, episode_id: str, *, dry_run: bool = False) -> Forgotten:
        """Forget one episode."""
        erased = await self._erase(ERASE_EPISODES, scope, dry_run=dry_run, ids=(episode_id,))
        return Forgotten(_NOTHING, erased, _NOTHING, _NOTHING, _NOTHING)

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
        said = {"conversation_id": conversation_id, "invocation_ids": runs, "dry_run": dry_run}
        return Forgotten(
            facts=await self._erase(ERASE_FACTS, scope, **said),
            episodes=await self._erase(ERASE_EPISODES, scope, **said),
            conversations=await self._erase(ERASE_CONVERSATIONS, scope, **said),
            working_memory=await self._erase(
                ERASE_WORKING_MEMORY, scope, ids=runs, dry_run=dry_run
            ),
            archive=await self._erase(ERASE_ARCHIVE, scope, **said),
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

    async def _everywhere(self, scope: Scope, **selected: Any) -> Forgotten:
        """Erase the same in every service."""
        return Forgotten(
            facts=await self._erase(ERASE_FACTS, scope, **selected),
            episodes=await self._erase(ERASE_EPISODES, scope, **selected),
            conversations=await self._erase(ERASE_CONVERSATIONS, scope, **selected),
            working_memory=await self._erase(ERASE_WORKING_MEMORY, scope, **selected),
            archive=await self._erase(ERASE_ARCHIVE, scope, **selected),
        )

    async def _erase(
        self, call: Call[EraseRequest, EraseResponse], scope: Scope, **selected: Any
    ) -> EraseResponse:
        return await self._call(call, scope, **selected)
