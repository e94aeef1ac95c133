"""`fourtier chat`: a conversation with the agent, and what it remembered for each answer."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from rich.console import Console
from rich.markup import escape

from fourtier.client import Client, FourtierError
from fourtier.interfaces.cli.lines import input_lines
from fourtier.schema.agent import AgentResponse, MemoryUsed, RunMetadata
from fourtier.schema.message import Scope

_TIERS = {"facts": "fact", "episodes": "episode", "conversation": "said"}
_HELP = """[bold]/facts[/]  what is known about you      [bold]/new[/]   begin a new conversation
[bold]/end[/]    end this conversation        [bold]/quit[/]  leave (or Ctrl-D)"""


def new_conversation_id() -> str:
    """A name that sorts by time and is not used yet."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid4().hex[:6]}"


class Chat:
    """One person's chat. With a terminal it streams; otherwise it takes one message per line."""

    def __init__(
        self, client: Client, scope: Scope, conversation_id: str, console: Console
    ) -> None:
        self._client = client
        self._scope = scope
        self._conversation_id = conversation_id
        self._console = console
        self._person = sys.stdin.isatty()

    async def run(self) -> None:
        """Take messages until the input ends."""
        if self._person:
            self._console.print(
                f"You are [bold]{escape(self._scope.user)}[/]. Say something, or /help.\n"
            )
        async for line in input_lines("> " if self._person else ""):
            text = line.strip()
            if not text:
                continue
            if text in {"/quit", "/exit"}:
                break
            try:
                await self._take(text)
            except FourtierError as error:
                self._console.print(f"[red]{escape(str(error))}[/]")

    async def _take(self, text: str) -> None:
        if text.startswith("/"):
            await self._command(text)
            return
        if not self._person:
            self._console.print(f"> {text}", markup=False, highlight=False)
        await self._ask(text)

    async def _ask(self, question: str) -> None:
        last: AgentResponse | None = None
        async for reply in self._client.ask(
            question,
            user=self._scope.user,
            collection=self._scope.collection,
            conversation_id=self._conversation_id,
        ):
            self._show(reply)
            last = reply
        self._console.print()
        if last is not None and last.metadata is not None:
            self._console.print(memories_text(last.metadata), highlight=False)

    def _show(self, reply: AgentResponse) -> None:
        if reply.message_type == "answer":
            self._console.print(reply.content, end="", markup=False, highlight=False)
        elif reply.message_type == "error":
            self._console.print(f"[red]No answer: {escape(reply.content)}[/]", end="")
        elif reply.message_type == "action" and reply.end_of_message:
            self._console.print(f"[dim]… {escape(reply.content)}[/]")

    async def _command(self, text: str) -> None:
        if text == "/facts":
            listed = await self._client.facts.list(self._scope, limit=20)
            lines = [f"  {fact.timestamp:%Y-%m-%d}  {fact.content}" for fact in listed.facts]
            self._console.print("\n".join(lines) or "Nothing is known yet.", markup=False)
        elif text in {"/end", "/new"}:
            await self._client.conversations.end(self._scope, self._conversation_id)
            self._conversation_id = new_conversation_id()
            self._console.print(f"A new conversation: {self._conversation_id}", highlight=False)
        else:
            self._console.print(_HELP)


def newest_first(memories: Sequence[MemoryUsed]) -> list[MemoryUsed]:
    """Memories in the order in which they are shown."""
    oldest = datetime.min.replace(tzinfo=UTC)
    return sorted(memories, key=lambda memory: memory.timestamp or oldest, reverse=True)


def memories_text(metadata: RunMetadata) -> str:
    """The memories of a run, newest first, and the tiers that it had to do without."""
    shown = [
        f"[dim]    {_TIERS.get(memory.tier, memory.tier):<8}"
        f"{memory.timestamp.astimezone():%Y-%m-%d %H:%M}  {escape(memory.content)}[/]"
        for memory in newest_first(metadata.memories)
        if memory.timestamp
    ]
    without = [
        f"[yellow]    without {escape(tier)}: {escape(reason)}[/]"
        for tier, reason in metadata.tiers_left_out.items()
    ]
    head = "[dim]  memories used, newest first:[/]" if shown else "[dim]  no memories used[/]"
    return "\n".join([head, *shown, *without, ""])
