"""A model behind a cache and a fair queue; it runs in threads of its own."""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

from fourtier.schema.message import Vector

#: Texts to vectors in one run of the model; called in a thread.
RunModel = Callable[[list[str]], list[Vector]]

#: Texts in one run of the model. A larger run is hardly faster, and the next request waits for it.
SLICE = 8


@dataclass(order=True)
class _Waiting:
    """A queued text; the earliest turn is next, and within a turn the text that came first."""

    turn: int
    number: int
    text: str = field(compare=False)
    vector: "asyncio.Future[Vector]" = field(compare=False)


class Encoder:
    """Texts to vectors; the latest vectors are cached.

    A question does not wait for all of a long list that came before it: the first texts of each
    request are next in the queue, the later ones come after the requests that arrive meanwhile
    (start-time fair queueing, Goyal, Vin and Cheng 1996).

    Args:
        model: texts to vectors, safe to call from several threads.
        cache_size: how many vectors are cached.
        threads: how many runs of the model there are at once.
    """

    def __init__(self, model: RunModel, cache_size: int, threads: int) -> None:
        self._model = model
        self._cache: OrderedDict[str, Vector] = OrderedDict()
        self._cache_size = cache_size
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        self._queue: list[_Waiting] = []
        self._waiting: dict[str, _Waiting] = {}
        self._numbers = count()
        self._turn = 0
        self._working: set[asyncio.Task[None]] = set()

    async def encode(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text; an unknown one goes through the model once.

        Raises: what the model raises.
        """
        found = {text: self._cache[text] for text in texts if text in self._cache}
        unknown = [text for text in dict.fromkeys(texts) if text not in found]
        waiting = [self._enqueue(text, position) for position, text in enumerate(unknown)]
        for _ in range(min(self._threads - len(self._working), len(self._queue))):
            self._start_working()
        if waiting:
            # Waits for them without cancelling them: another request may wait for the same text.
            await asyncio.wait([each.vector for each in waiting])
            found |= {each.text: each.vector.result() for each in waiting}
        for text in found:
            self._cache_vector(text, found[text])
        return [found[text] for text in texts]

    def _enqueue(self, text: str, position: int) -> _Waiting:
        if (known := self._waiting.get(text)) is not None:
            return known
        turn = self._turn + position // SLICE
        vector = asyncio.get_running_loop().create_future()
        waiting = _Waiting(turn, next(self._numbers), text, vector)
        self._waiting[text] = waiting
        heapq.heappush(self._queue, waiting)
        return waiting

    def _start_working(self) -> None:
        task = asyncio.create_task(self._work(), name="embed")
        self._working.add(task)

    async def _work(self) -> None:
        """Take slices from the queue until it is empty."""
        while self._queue:
            await self._run_slice()
        # Not in a callback of the task: a text that is queued before it ran would wait for ever.
        if (task := asyncio.current_task()) is not None:
            self._working.discard(task)

    async def _run_slice(self) -> None:
        share = -(-len(self._queue) // self._threads)
        some = [heapq.heappop(self._queue) for _ in range(min(SLICE, share))]
        self._turn = max(self._turn, some[0].turn)
        texts = [each.text for each in some]
        try:
            loop = asyncio.get_running_loop()
            vectors = await loop.run_in_executor(self._executor, self._model, texts)
        except Exception as error:  # noqa: BLE001 - the waiting requests raise it
            for each in some:
                each.vector.set_exception(error)
        else:
            for each, vector in zip(some, vectors, strict=True):
                each.vector.set_result(vector)
        finally:
            for each in some:
                del self._waiting[each.text]

    def _cache_vector(self, text: str, vector: Vector) -> None:
        self._cache[text] = vector
        self._cache.move_to_end(text)
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    async def close(self) -> None:
        """Wait for the runs of the model that have begun."""
        await asyncio.gather(*self._working)
        self._executor.shutdown()
