"""`/forget` in a chat: what is about something is shown, and goes when its number is said."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from fourtier.client import Client
from fourtier.interfaces.cli.output import counted, print_text
from fourtier.operations.forgetting import ForgottenLetters, about_facts
from fourtier.schema.erasure import EraseRequest
from fourtier.schema.message import Scope

if TYPE_CHECKING:
    from fourtier.schema.facts import Fact

#: Forgets in the flow's dead letters.
ForgetLetters = Callable[[EraseRequest], Awaitable[ForgottenLetters]]
_USAGE = "Say what to forget, as /forget my address; then its number, as /forget 1."


class ChatForgetting:
    """Asks before it forgets: a number only counts for what was shown last."""

    def __init__(self, client: Client, scope: Scope, letters: ForgetLetters) -> None:
        self._client = client
        self._scope = scope
        self._forget_letters = letters
        self._shown: Sequence[Fact] = ()

    async def __call__(self, text: str) -> None:
        """Show what the text may mean, or forget what its numbers mean.

        Raises:
            FourtierError: a service does not answer.
        """
        parts = text.replace(",", " ").split()
        if not parts:
            print_text(_USAGE)
        elif all(part.isdecimal() for part in parts):
            await self._forget([int(part) for part in parts])
        else:
            await self._show(text)

    async def _show(self, text: str) -> None:
        self._shown = await self._client.forget.matching(self._scope, text)
        for number, fact in enumerate(self._shown, 1):
            print_text(f"  {number:2}  {fact.timestamp:%Y-%m-%d}  {fact.content}")
        if self._shown:
            print_text("Which of these? /forget 1 forgets the first for good.")
        else:
            print_text("Nothing is known about that.")

    async def _forget(self, numbers: Sequence[int]) -> None:
        if not all(1 <= number <= len(self._shown) for number in numbers):
            print_text(f"There is no such number. {_USAGE}")
            return
        chosen = [self._shown[number - 1] for number in numbers]
        done = await self._client.forget.facts(self._scope, chosen)
        gone = await self._forget_letters(about_facts(self._scope, chosen))
        self._shown = ()
        parts = [
            counted(done.facts.number, "fact"),
            f"{counted(done.conversations.number, 'exchange')} of conversations",
            counted(done.episodes.number, "episode"),
            f"{counted(done.archive.number, 'entry', 'entries')} of the archive",
            *(
                f"{counted(part.number, 'memory', 'memories')} of {service}"
                for service, part in done.others.items()
            ),
            counted(gone.removed, "dead letter"),
        ]
        print_text(f"Forgotten for good: {', '.join(parts)}.")
