"""Tokens of a day: counted on disk, with a cap."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fourtier.models.completion.errors import BudgetError
from fourtier.runtime.errors import StartupError


class _Day(BaseModel):
    """What the file holds."""

    model_config = ConfigDict(frozen=True)

    day: date
    used: int = Field(ge=0)


def _now() -> datetime:
    return datetime.now(UTC)


class DayBudget:
    """Counts the tokens of the current UTC day, of prompts and completions.

    A completion is stopped before it begins, never in the middle: the one that crosses the cap is
    finished, and so are those that run at the same time. Each replica of the service counts its
    own tokens.

    Args:
        cap: tokens a day; None counts and never stops.
    """

    def __init__(
        self, file: Path, cap: int | None, used: _Day, now: Callable[[], datetime]
    ) -> None:
        self._file = file
        self._cap = cap
        self._used = used
        self._now = now
        self._write_lock = asyncio.Lock()

    @classmethod
    def open(cls, file: Path, cap: int | None, now: Callable[[], datetime] = _now) -> Self:
        """Read what was used before; blocking.

        Raises:
            StartupError: the file was not written by this class.
        """
        used = _Day(day=now().date(), used=0)
        try:
            used = _Day.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            file.parent.mkdir(parents=True, exist_ok=True)
        except ValidationError as error:
            raise StartupError(
                f"{file} does not hold the tokens of a day: delete it to count from zero"
            ) from error
        return cls(file, cap, used, now)

    @property
    def used(self) -> int:
        """Tokens of today."""
        return self._used.used if self._used.day == self._now().date() else 0

    def check(self) -> None:
        """Let one more completion begin.

        Raises:
            BudgetError: the cap is reached.
        """
        used = self.used
        if self._cap is None or used < self._cap:
            return
        tomorrow = self._now().date() + timedelta(days=1)
        raise BudgetError(
            f"the flow may use {self._cap} tokens a day (completion: tokens-per-day) and has used "
            f"{used}; the next day begins at {tomorrow}T00:00Z"
        )

    async def spend(self, tokens: int) -> None:
        """Count tokens; when this returns, the count survives the end of the process."""
        self._used = _Day(day=self._now().date(), used=self.used + tokens)
        async with self._write_lock:
            await asyncio.to_thread(self._write, self._used)

    def _write(self, used: _Day) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(used.model_dump_json(), encoding="utf-8")
        fresh.replace(self._file)
