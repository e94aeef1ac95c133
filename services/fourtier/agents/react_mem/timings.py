"""How long the parts of a run took; it travels with the last reply."""

import time
from collections.abc import Generator
from contextlib import contextmanager


class Timings:
    """Milliseconds by part; parts that come again add up, parts side by side overlap."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._parts: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """Time one part. Spans are made by the calls in it: a stream may yield within a part."""
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
