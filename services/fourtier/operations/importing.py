"""Hand past dialogue to memory: JSON lines, each a turn of a conversation."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import stamina
from pydantic import ValidationError

from fourtier.client import Client
from fourtier.operations.blocking import iterate_in_thread
from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.errors import FourtierError
from fourtier.runtime.privacy.policy import PrivacyPolicy
from fourtier.runtime.privacy.redactor import Privacy
from fourtier.runtime.rpc.retry import is_temporary
from fourtier.runtime.validation import in_words
from fourtier.schema.conversations import DialogueTurn
from fourtier.schema.message import Scope

#: Turns in flight at once; each is counted when the broker has confirmed it.
_MAX_IN_FLIGHT = 64
#: Bad lines that are reported with their reasons; the rest are only counted.
_MAX_REPORTED = 100
#: A broker that restarts is back within half a minute.
_ATTEMPTS = 5
_Conversation = tuple[Scope, str]
#: Between two turns of a conversation that have the same time.
_TURN = timedelta(milliseconds=1)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be imported; numbers begin with 1."""

    number: int
    reason: str


@dataclass(slots=True)
class ImportResult:
    """How far an import is.

    Attributes:
        sent: turns that the broker has confirmed.
        bad: how many lines cannot be imported; `reported` are the first of them.
        redacted: how often which kind of personal data the flow takes out of what was sent.
    """

    sent: int = 0
    bad: int = 0
    reported: list[BadLine] = field(default_factory=list)
    redacted: Counter[str] = field(default_factory=Counter)

    def add_bad(self, line: BadLine) -> None:
        """Count a line that cannot be imported."""
        self.bad += 1
        if len(self.reported) < _MAX_REPORTED:
            self.reported.append(line)


class ImportInterruptedError(FourtierError):
    """The bus failed for longer than it was waited for; what was sent until then is safe."""

    type = "import-interrupted"

    def __init__(self, sent: int, cause: Exception) -> None:
        super().__init__(
            f"the import was interrupted after {sent:,} messages: {cause}. Import the same file "
            f"again when the flow is up: what was sent already is not doubled"
        )
        self.sent = sent


async def import_turns(
    client: Client,
    lines: Iterable[bytes],
    progress: Callable[[ImportResult], None] = lambda _: None,
    scope: Scope | None = None,
    policy: PrivacyPolicy | None = None,
) -> ImportResult:
    """Send every good line to the flow.

    Args:
        client: of the running flow.
        lines: as `read_turns` takes them.
        scope: of lines that name no user.
        progress: called after each line with the result so far.
        policy: of the flow, to count what its services take out; None counts nothing.

    Raises:
        ImportInterruptedError: the bus failed, and the retries were used up.
    """
    result = ImportResult()
    slots = asyncio.Semaphore(_MAX_IN_FLIGHT)

    async def send(turn: DialogueTurn) -> None:
        try:
            await _record(client, turn)
        finally:
            slots.release()
        result.sent += 1
        progress(result)

    try:
        counted = _counting(read_turns(lines, scope), result.redacted, policy)
        turns = iterate_in_thread(counted)
        async with aclosing(turns), asyncio.TaskGroup() as group:
            async for number, line in turns:
                if isinstance(line, BadLine):
                    result.add_bad(line)
                    progress(result)
                    continue
                await slots.acquire()
                group.create_task(send(line), name=f"line {number}")
    except* BusError as failed:
        raise ImportInterruptedError(result.sent, _first(failed)) from None
    return result


def _counting(
    turns: Iterator[tuple[int, DialogueTurn | BadLine]],
    counts: Counter[str],
    policy: PrivacyPolicy | None,
) -> Iterator[tuple[int, DialogueTurn | BadLine]]:
    """The same turns; what the policy takes out of them is counted."""
    for number, turn in turns:
        if policy is not None and isinstance(turn, DialogueTurn):
            counts.update(Privacy(policy).clean_now(turn).counts)
        yield number, turn


def _first(group: BaseExceptionGroup[BusError]) -> BusError:
    """One of the errors: all have the same cause."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


async def _record(client: Client, turn: DialogueTurn) -> None:
    """Publish one turn, again when the bus fails: its id makes a repetition harmless."""
    async for attempt in stamina.retry_context(
        on=is_temporary, attempts=_ATTEMPTS, timeout=None, wait_initial=2.0, wait_max=16.0
    ):
        with attempt:
            await client.conversations.record(turn)


class _Line(DialogueTurn):
    """A line of the file, which may leave out the turn's id."""

    turn_id: str = ""


def read_turns(
    lines: Iterable[bytes], scope: Scope | None = None
) -> Iterator[tuple[int, DialogueTurn | BadLine]]:
    """Each line that is not blank, with its number from 1, as a turn or as the reason why not.

    A line that names no user is of `scope`, or cannot be imported where there is none.

    A line without a `turn_id` gets one made from what it says; the same words said again at the
    same time count as another turn. Turns of a conversation that have one time, as those of a talk
    of which only the day is known, get a millisecond each, so that their order stays known. A byte
    order mark before the first line is left out.
    """
    seen: Counter[str] = Counter()
    times = _Times()
    for number, line in enumerate(lines, 1):
        content = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        if content.strip():
            read = _read_line(number, content, seen, scope)
            yield number, read if isinstance(read, BadLine) else times.in_order(read)


class _Times:
    """The time of the last turn of each conversation, as it was given and as it was made."""

    def __init__(self) -> None:
        self._last: dict[_Conversation, tuple[datetime, datetime]] = {}

    def in_order(self, turn: DialogueTurn) -> DialogueTurn:
        """The turn, behind the one before it where both have one time."""
        conversation = (turn.scope, turn.conversation_id)
        given, made = self._last.get(conversation, (None, turn.timestamp))
        made = made + _TURN if given == turn.timestamp else turn.timestamp
        self._last[conversation] = (turn.timestamp, made)
        return turn if made == turn.timestamp else turn.model_copy(update={"timestamp": made})


def _read_line(
    number: int, content: bytes, seen: Counter[str], scope: Scope | None
) -> DialogueTurn | BadLine:
    try:
        line = _parsed(content.decode("utf-8"), scope)
    except UnicodeDecodeError:
        return BadLine(number, "is not UTF-8 text")
    except ValidationError as error:
        return BadLine(number, in_words(error, "line"))
    if line.turn_id:
        return line
    identity = _identity(line)
    seen[identity] += 1
    return line.model_copy(update={"turn_id": f"{identity}-{seen[identity]}"})


def _parsed(text: str, scope: Scope | None) -> _Line:
    """A line, of the scope if it names no user.

    Raises:
        ValidationError: it is not what a line must be.
    """
    try:
        return _Line.model_validate_json(text)
    except ValidationError as error:
        missing = {each["loc"] for each in error.errors() if each["type"] == "missing"}
        if scope is None or ("user",) not in missing:
            raise
    named = {**scope._asdict(), **json.loads(text)}
    return _Line.model_validate_json(json.dumps(named))


def _identity(turn: DialogueTurn) -> str:
    said = (
        f"{turn.scope.key}\n{turn.conversation_id}\n{turn.speaker}\n"
        f"{turn.timestamp.isoformat()}\n{turn.content}"
    )
    return hashlib.sha256(said.encode()).hexdigest()[:24]
