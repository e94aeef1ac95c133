"""How long the parts of a run took; the last reply has it."""

import time
from collections.abc import Generator
from contextlib import contextmanager


class Timings:
    """Milliseconds by part; repeated parts add up, concurrent parts overlap."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._parts: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """Time one part; a stream may yield within it."""
        began = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - began) * 1000
            self._parts[name] = self._parts.get(name, 0.0) + spent

    def milliseconds(self) -> dict[str, float]:
        """All parts, and the total since the run began in this process."""
        total = (time.perf_counter() - self._began) * 1000
        return {name: round(value, 2) for name, value in (self._parts | {"total": total}).items()}
