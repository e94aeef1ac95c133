"""What waits for the user's yes: in working memory, so that it outlives replicas and restarts.

It is there by ids alone, for each conversation under a name that runs do not have. The sweep of
working memory removes it as it does a run that nobody goes on with.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fourtier.schema.message import Metadata
from fourtier.schema.working_memory import (
    APPEND_WORKING_MEMORY,
    GET_WORKING_MEMORY,
    AppendWorkingMemoryRequest,
    GetWorkingMemoryRequest,
    WorkingMemoryItem,
)
from fourtier.tools.contract import RunContext, ToolError

_NAMESPACE = uuid.UUID("5b1f0d0a-52c4-5b39-8a44-6b2f6d8c9e03")
#: A yes counts for so long.
_VALID = timedelta(minutes=30)
_SHOWN, _CONFIRMED = "shown", "confirmed"
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory of the list.

    Attributes:
        kind: fact, episode, or exchange of a conversation.
        text: as the user reads it; empty where it is read back, since it is not stored.
    """

    kind: str
    id: str
    conversation_id: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """A list that was shown, or is about to be.

    Attributes:
        run_id: of the run that showed it.
        confirmation: the run that acts on it, and the numbers that it took from the user's message.
    """

    run_id: str
    at: datetime
    shown: Sequence[Shown]
    confirmation: tuple[str, Sequence[int]] | None = None

    @property
    def mark(self) -> str:
        """Tells the list from others in the answer that shows it; letters, so that it stays."""
        number = uuid.uuid5(
            _NAMESPACE, "\n".join([self.run_id, *(each.id for each in self.shown)])
        ).int
        return "".join(
            _LETTERS[number // len(_LETTERS) ** place % len(_LETTERS)] for place in range(6)
        )

    @property
    def is_expired(self) -> bool:
        """Whether a yes comes too late."""
        return datetime.now(UTC) - self.at > _VALID

    def confirmed_by(self, run_id: str) -> Sequence[int]:
        """The numbers that a run had begun to act on before it was interrupted; none otherwise.

        Raises:
            ToolError: another run has acted on it.
        """
        if self.confirmation is None:
            return ()
        confirmed_by, numbers = self.confirmation
        if confirmed_by != run_id:
            raise ToolError("nothing is waiting for a yes: what was shown last is forgotten.")
        return numbers


class Previews:
    """The list of the conversation in which a run is."""

    def __init__(self, context: RunContext) -> None:
        self._caller = context.caller
        self._run_id = context.run_id
        self._scope = context.scope
        self._name = f"forget/{uuid.uuid5(_NAMESPACE, context.conversation_id)}"

    async def keep(self, shown: Sequence[Shown]) -> Preview:
        """Let a list wait instead of the one before it."""
        preview = Preview(self._run_id, datetime.now(UTC), shown)
        await self._write(
            _SHOWN,
            preview,
            {
                "list": [
                    {
                        "kind": each.kind,
                        "memory_id": each.id,
                        "conversation_id": each.conversation_id,
                    }
                    for each in shown
                ]
            },
        )
        return preview

    async def confirm(self, preview: Preview, numbers: Sequence[int]) -> None:
        """Note that this run acts on it, so that it goes on with that after an interruption."""
        await self._write(_CONFIRMED, preview, {"numbers": list(numbers), "by_id": self._run_id})

    async def latest(self) -> Preview:
        """The list that waits.

        Raises:
            ToolError: there is none.
        """
        found = await self._caller.call(
            GET_WORKING_MEMORY,
            GetWorkingMemoryRequest(
                user=self._scope.user,
                collection=self._scope.collection,
                run_id=self._name,
                full=True,
            ),
        )
        items = {item.id: item.metadata for item in found.trace.items}
        if _SHOWN not in items:
            raise ToolError("nothing is waiting for a yes: call forget with `about` first.")
        return _read(items[_SHOWN], items.get(_CONFIRMED, {}))

    async def _write(self, item_id: str, preview: Preview, metadata: Metadata) -> None:
        about: Metadata = {"shown_by_id": preview.run_id, "at": preview.at.isoformat()}
        item = WorkingMemoryItem(
            id=item_id,
            step=0,
            type="thought",
            content="(waits for the user's yes)",
            timestamp=datetime.now(UTC),
            metadata={**about, **metadata},
        )
        await self._caller.call(
            APPEND_WORKING_MEMORY,
            AppendWorkingMemoryRequest(
                user=self._scope.user,
                collection=self._scope.collection,
                run_id=self._name,
                items=(item,),
            ),
        )


def _read(shown: Metadata, confirmed: Metadata) -> Preview:
    listed, numbers = shown.get("list"), confirmed.get("numbers")
    same = all(confirmed.get(name) == shown.get(name) for name in ("shown_by_id", "at"))
    return Preview(
        run_id=str(shown["shown_by_id"]),
        at=datetime.fromisoformat(str(shown["at"])),
        shown=[
            Shown(str(each["kind"]), str(each["memory_id"]), str(each["conversation_id"]))
            for each in (listed if isinstance(listed, list) else [])
            if isinstance(each, dict)
        ],
        confirmation=(
            str(confirmed["by_id"]),
            [int(str(each)) for each in (numbers if isinstance(numbers, list) else [])],
        )
        if same and confirmed
        else None,
    )
