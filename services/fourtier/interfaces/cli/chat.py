"""A conversation with the agent on a terminal or through a pipe."""

import difflib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing

from rich.text import Text

from fourtier.client import Client, FourtierError
from fourtier.interfaces.cli.chat_forgetting import ChatForgetting, ForgetLetters
from fourtier.interfaces.cli.input import input_messages
from fourtier.interfaces.cli.memories import memories_text, new_conversation_id
from fourtier.interfaces.cli.output import console, print_text
from fourtier.schema.agent import AgentResponse
from fourtier.schema.message import Scope

_HELP = """[bold]/facts[/]  what is known about you      [bold]/new[/]   begin a new conversation
[bold]/end[/]    end this conversation        [bold]/quit[/]  leave (or Ctrl-D)
[bold]/forget[/] what is about something, such as /forget my address
Several lines that are pasted at once are one message."""
_LEAVE = {"/quit", "/exit"}
_FORGET = "/forget"


class Chat:
    """One person's chat. On a terminal it streams; through a pipe each line is a message."""

    def __init__(
        self, client: Client, scope: Scope, conversation_id: str, letters: ForgetLetters
    ) -> None:
        self._client = client
        self._scope = scope
        self._conversation_id = conversation_id
        self._typed = sys.stdin.isatty()
        self._unanswered = 0
        self._commands: Mapping[str, Callable[[], Awaitable[None]]] = {
            "/facts": self._show_facts,
            "/end": self._end,
            "/new": self._begin_new,
            "/help": self._help,
        }
        self._forget = ChatForgetting(client, scope, letters)

    async def run(self) -> bool:
        """Take messages until the input ends; returns whether every one got its answer."""
        if self._typed:
            print_text(f"You are {self._scope.user}. Say something, or /help.\n")
        return await self.take(input_messages("> " if self._typed else ""))

    async def take(self, messages: AsyncIterator[str | None]) -> bool:
        """Take these messages; returns whether every one got its answer.

        A message that cannot be answered does not end the chat.
        """
        async for message in messages:
            text = message.strip() if message is not None else None
            if text in _LEAVE:
                break
            if text is None:
                self._fail("this is not UTF-8 text, and was left out")
            elif text:
                try:
                    await self._take(text)
                except FourtierError as error:
                    self._fail(str(error))
        return not self._unanswered

    def _fail(self, reason: str) -> None:
        self._unanswered += 1
        print_text(reason, style="red")

    async def _take(self, text: str) -> None:
        if text.startswith("/"):
            await self._command(text)
            return
        if not self._typed:
            print_text(f"> {text}")
        await self._ask(text)

    async def _ask(self, question: str) -> None:
        last: AgentResponse | None = None
        replies = self._client.ask(
            question,
            user=self._scope.user,
            collection=self._scope.collection,
            conversation_id=self._conversation_id,
        )
        async with aclosing(replies):
            async for reply in replies:
                self._show(reply)
                last = reply
        console.print()
        if last is None or last.error is not None:
            self._unanswered += 1
        if last is not None and last.metadata is not None:
            console.print(memories_text(last.metadata))

    def _show(self, reply: AgentResponse) -> None:
        if reply.message_type == "answer":
            print_text(reply.content, end="")
        elif reply.message_type == "error":
            print_text(f"No answer: {reply.content}", end="", style="red")
        elif reply.message_type == "action" and reply.end_of_message:
            print_text(f"… {reply.content}", style="dim")

    async def _command(self, text: str) -> None:
        command = self._commands.get(text)
        if command is not None:
            await command()
            return
        name, _, rest = text.partition(" ")
        if name == _FORGET:
            await self._forget(rest)
            return
        near = difflib.get_close_matches(name, [*self._commands, _FORGET, *_LEAVE], n=1)
        advice = f"did you mean {near[0]}?" if near else "/help lists the commands."
        print_text(f"There is no command {name}: {advice}")

    async def _help(self) -> None:
        console.print(Text.from_markup(_HELP))

    async def _show_facts(self) -> None:
        listed = await self._client.facts.list(self._scope, limit=20)
        for fact in listed.facts:
            print_text(f"  {fact.timestamp:%Y-%m-%d}  {fact.content}")
        if listed.total > len(listed.facts):
            print_text(f"  {len(listed.facts)} of {listed.total}; `fourtier facts list` has more.")
        if not listed.facts:
            console.print("Nothing is known yet.")

    async def _end(self) -> None:
        """End the conversation, and say so; what is said next begins another one."""
        old = self._conversation_id
        if not await self._client.conversations.end(self._scope, old):
            print_text(f"There is nothing to end in the conversation {old} yet.")
            return
        self._conversation_id = new_conversation_id()
        print_text(
            f"Ended the conversation {old}: what lasts of it goes into memory.\n"
            f"What you say next begins the conversation {self._conversation_id}."
        )

    async def _begin_new(self) -> None:
        old = self._conversation_id
        ended = await self._client.conversations.end(self._scope, old)
        self._conversation_id = new_conversation_id()
        before = f" Ended the conversation {old}." if ended else ""
        print_text(f"A new conversation: {self._conversation_id}.{before}")
