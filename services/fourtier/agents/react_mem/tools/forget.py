"""The tool that forgets: it shows what would go, and acts when the user has said yes to that.

The model alone cannot forget anything, and so neither can whoever talks it into something by a
memory or by the result of a tool:

- What is found is shown to the user under the answer of that run, not by the model but word for
  word (`Observation.for_user`), with numbers.
- It goes in a later run of the same conversation only, whose question comes directly behind that
  answer and is a plain yes (`consent.py`). What goes are the memories that were shown, by their
  ids, or those of them whose numbers the user says; the model has no say in it.

Nothing is shown or forgotten for another user: what waits for a yes is a part of the scope.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fourtier.agents.react_mem.consent import agreed_numbers
from fourtier.agents.react_mem.observation import Observation
from fourtier.agents.react_mem.tools.arguments import text_argument
from fourtier.agents.react_mem.tools.forget_preview import Preview, Previews, Shown
from fourtier.models.text.quoting import in_one_line
from fourtier.runtime.errors import FourtierError
from fourtier.schema.completion import ToolSpec
from fourtier.schema.conversations import GET_CONVERSATION, GetConversationMemoryRequest
from fourtier.schema.facts import Fact
from fourtier.schema.message import Metadata
from fourtier.tools.contract import RunContext, ToolError

if TYPE_CHECKING:
    from fourtier.client.forgotten import Forgotten

#: Memories in one preview.
_MAX_SHOWN = 10
#: Characters of each.
_WIDTH = 200
_ASK = (
    "The user is shown this list under your answer, word for word. Do not repeat it, say that "
    "nothing is forgotten yet, and ask whether these are to be forgotten. Their next message "
    "decides; only then call forget again, with confirmed=true."
)


class ForgetTool:
    """Forget for good, after the user has confirmed."""

    spec = ToolSpec(
        name="forget",
        description="Forget something for good, when the user asks for it. First say what it is "
        "about: the user is then asked. When the user's next message says yes, call it again with "
        "confirmed=true and nothing else.",
        parameters={
            "type": "object",
            "properties": {
                "about": {"type": "string", "description": "what to forget, in a few words"},
                "confirmed": {
                    "type": "boolean",
                    "description": "true when the user has just said yes to what was shown",
                },
            },
            "additionalProperties": False,
        },
    )
    idempotent = True  # forgotten twice it is forgotten once
    groups: Sequence[str] = ("memory",)

    async def run(self, arguments: Metadata, context: RunContext) -> str:
        """What the model reads of `observe`."""
        return (await self.observe(arguments, context)).text

    async def observe(self, arguments: Metadata, context: RunContext) -> Observation:
        """Show what would be forgotten, or forget what was shown.

        Raises:
            ToolError: there is nothing that the user has agreed to.
        """
        work = _Forgetting(context)
        if arguments.get("confirmed") is True:
            return await work.act()
        return await work.show(text_argument(arguments, "about"))


class _Forgetting:
    """What one call of the tool does."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._scope = context.scope
        # The client needs the package of a bus, and services are loaded without.
        from fourtier.client.forgetting import Forget  # noqa: PLC0415

        self._forget = Forget(context.caller)
        self._previews = Previews(context)

    async def show(self, about: str) -> Observation:
        """Find what it may be, and let it wait for a yes."""
        facts = await self._forget.matching(self._scope, about, limit=_MAX_SHOWN)
        shown = [Shown("fact", fact.id, text=_line_of(fact)) for fact in facts]
        if not shown:
            shown = await self._with_words(about)
        if not shown:
            return Observation("Nothing is known about that: there is nothing to forget.")
        would = await self._erase(shown, dry_run=True)
        preview = await self._previews.keep(shown)
        listed = _listed(preview, would)
        return Observation(f"{listed}\n{_ASK}", for_user=listed)

    async def _with_words(self, about: str) -> list[Shown]:
        """Episodes and exchanges that have the very words, where no fact is about them."""
        would = await self._forget.containing(self._scope, [about], dry_run=True)
        found = [*would.episodes.erased, *would.conversations.erased]
        return [
            Shown(each.kind, each.id, each.conversation_id, _line(f"({each.kind})", each.content))
            for each in found[:_MAX_SHOWN]
        ]

    async def act(self) -> Observation:
        """Forget what was shown and agreed to, and the exchange in which it was shown."""
        preview = await self._previews.latest()
        numbers = preview.confirmed_by(self._context.run_id) or await self._agreed(preview)
        await self._previews.confirm(preview, numbers)
        chosen = [preview.shown[number - 1] for number in numbers]
        try:
            gone = await self._erase(chosen, dry_run=False)
            asked = await self._forget.exchanges(
                self._scope, self._context.conversation_id, [preview.run_id]
            )
        except FourtierError as error:
            text = f"Only a part is forgotten: {error}. Call forget again, with confirmed=true."
            return Observation(text, "failed", forgot=True)
        return Observation(f"Forgotten for good: {_counts(gone, asked)}.", forgot=True)

    async def _agreed(self, preview: Preview) -> Sequence[int]:
        """The numbers that the user has agreed to.

        Raises:
            ToolError: the user has not been asked, or has not said yes.
        """
        if preview.run_id == self._context.run_id:
            raise ToolError(
                "rejected: the user has not been asked yet. What was found is shown under your "
                "answer, and only the user's next message can confirm it. Answer now."
            )
        if preview.is_expired:
            raise ToolError("rejected: it was shown too long ago. Call forget with `about` again.")
        await self._require_directly_before(preview)
        numbers = agreed_numbers(self._context.question, len(preview.shown))
        if not numbers:
            raise ToolError(
                "rejected: the user's message is not a plain yes, so nothing is forgotten. Ask for "
                'a "yes", or for the numbers of what is to be forgotten and nothing else, and call '
                "forget with `about` again to show them."
            )
        return numbers

    async def _require_directly_before(self, preview: Preview) -> None:
        """See that the user was shown this, and that it was the last thing in the conversation.

        Raises:
            ToolError: it was not, or the record cannot say so.
        """
        found = await self._context.caller.call(
            GET_CONVERSATION,
            GetConversationMemoryRequest(
                conversation_id=self._context.conversation_id,
                user=self._scope.user,
                collection=self._scope.collection,
                last=1,
            ),
        )
        latest = found.conversation.invocations
        if not latest or latest[-1].id != preview.run_id or preview.mark not in latest[-1].result:
            raise ToolError(
                "rejected: what is to be forgotten was not shown to the user directly before this "
                "message. Call forget with `about`, which shows it."
            )

    async def _erase(self, shown: Sequence[Shown], *, dry_run: bool) -> "Sequence[Forgotten]":
        """Forget each, or say what would go with it."""
        ids = [each.id for each in shown if each.kind == "fact"]
        done: list[Forgotten] = []
        if ids:
            known = await self._forget.known(self._scope, ids)
            done.append(await self._forget.facts(self._scope, known, *ids, dry_run=dry_run))
            # An earlier list, to which nobody said yes, has the beginnings of the facts.
            lines = [_line_of(fact) for fact in known]
            done.append(await self._forget.containing(self._scope, lines, dry_run=dry_run))
        for each in shown:
            if each.kind == "episode":
                done.append(await self._forget.episode(self._scope, each.id, dry_run=dry_run))
            elif each.kind == "exchange":
                done.append(
                    await self._forget.exchanges(
                        self._scope, each.conversation_id, [each.id], dry_run=dry_run
                    )
                )
        return done


def _listed(preview: Preview, would: "Sequence[Forgotten]") -> str:
    """The list as the user reads it."""
    lines = [f"{number}. {each.text}" for number, each in enumerate(preview.shown, 1)]
    how = (
        'Say "yes" to forget all of it, or its numbers; with any other answer nothing is '
        f"forgotten. [{preview.mark}]"
    )
    exchanges = [each for part in would for each in part.conversations.erased][:_MAX_SHOWN]
    with_it = (
        "That is, with the exchanges that said it, repeat it or had it in their prompt: "
        f"{_counts(would)}, and this exchange."
    )
    lines += [with_it, *(_line("exchange", each.content) for each in exchanges), how]
    return "\n".join(["This would be forgotten for good:", *lines])


def _line(what: str, content: str) -> str:
    return in_one_line(f"{what}: {content}")[:_WIDTH]


def _line_of(fact: Fact) -> str:
    return _line(f"{fact.timestamp:%Y-%m-%d}", fact.content)


def _counts(done: "Sequence[Forgotten]", *more: "Forgotten") -> str:
    """How many memories, by kind."""
    every = [*done, *more]
    parts = {
        "facts": sum(each.facts.number for each in every),
        "episodes": sum(each.episodes.number for each in every),
        "exchanges of conversations": sum(each.conversations.number for each in every),
        "entries of the archive": sum(each.archive.number for each in every),
    }
    for each in every:
        for service, part in each.others.items():
            kind = f"memories of {service}"
            parts[kind] = parts.get(kind, 0) + part.number
    return ", ".join(f"{number} {kind}" for kind, number in parts.items() if number) or "nothing"
