"""Dynamic batching: a model behind a cache and a fair queue; it runs in threads of its own."""

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

from fourtier.runtime.errors import UnavailableError

Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")

#: Items in one run of the model. A larger run is hardly faster, and the next request waits for it.
SLICE = 8

_CLOSED = "the process of the model ends"


@dataclass(order=True)
class _Waiting(Generic[Item, Result]):
    """A queued item; the earliest turn is next, and within a turn the item that came first."""

    turn: int
    number: int
    item: Item = field(compare=False)
    result: "asyncio.Future[Result]" = field(compare=False)


class Batcher(Generic[Item, Result]):
    """Runs a model on the items of all who ask, a few in one run; the latest results are cached.

    A question does not wait for all of a long list that came before it: the first items of each
    request are next in the queue, the later ones come after the requests that arrive meanwhile
    (start-time fair queueing, Goyal, Vin and Cheng 1996).

    Args:
        model: a result for each item, in their order; called in a thread, by several at once.
        cache_size: how many results are cached.
        threads: how many runs of the model there are at once.
    """

    def __init__(
        self, model: Callable[[list[Item]], Sequence[Result]], cache_size: int, threads: int
    ) -> None:
        self._model = model
        self._cache: OrderedDict[Item, Result] = OrderedDict()
        self._cache_size = cache_size
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="model")
        self._queue: list[_Waiting[Item, Result]] = []
        self._waiting: dict[Item, _Waiting[Item, Result]] = {}
        self._numbers = count()
        self._turn = 0
        self._working: set[asyncio.Task[None]] = set()
        self._closed = False

    async def run(self, items: Sequence[Item]) -> list[Result]:
        """One result for each item; an unknown one goes through the model once.

        Raises:
            UnavailableError: the process ends, and the model runs no more.
            ValueError: the model gave more or fewer results than it got items.

        Besides, what the model raises.
        """
        if self._closed:
            raise UnavailableError(_CLOSED)
        found = {item: self._cache[item] for item in items if item in self._cache}
        unknown = [item for item in dict.fromkeys(items) if item not in found]
        waiting = [self._enqueue(item, position) for position, item in enumerate(unknown)]
        for _ in range(min(self._threads - len(self._working), len(self._queue))):
            self._start_working()
        if waiting:
            # Waits for them without cancelling them: another request may wait for the same item.
            await asyncio.wait([each.result for each in waiting])
            found |= {each.item: each.result.result() for each in waiting}
        for item in found:
            self._cache_result(item, found[item])
        return [found[item] for item in items]

    def _enqueue(self, item: Item, position: int) -> _Waiting[Item, Result]:
        if (known := self._waiting.get(item)) is not None:
            return known
        turn = self._turn + position // SLICE
        result = asyncio.get_running_loop().create_future()
        waiting = _Waiting(turn, next(self._numbers), item, result)
        self._waiting[item] = waiting
        heapq.heappush(self._queue, waiting)
        return waiting

    def _start_working(self) -> None:
        task = asyncio.create_task(self._work(), name="model")
        self._working.add(task)

    async def _work(self) -> None:
        """Take slices from the queue until it is empty."""
        while self._queue and not self._closed:
            await self._run_slice()
        # Not in a callback of the task: an item that is queued before it ran would wait for ever.
        if (task := asyncio.current_task()) is not None:
            self._working.discard(task)

    async def _run_slice(self) -> None:
        share = -(-len(self._queue) // self._threads)
        some = [heapq.heappop(self._queue) for _ in range(min(SLICE, share))]
        self._turn = max(self._turn, some[0].turn)
        items = [each.item for each in some]
        try:
            loop = asyncio.get_running_loop()
            results = await loop.run_in_executor(self._executor, self._model, items)
            if len(results) != len(items):
                raise ValueError(f"the model gave {len(results)} results for {len(items)} items")  # noqa: TRY301 - fails these items as the model's own errors do
        except Exception as error:  # noqa: BLE001 - the waiting requests raise it
            self._fail(some, error)
        else:
            for each, result in zip(some, results, strict=True):
                each.result.set_result(result)
                del self._waiting[each.item]

    def _fail(self, some: Sequence[_Waiting[Item, Result]], error: Exception) -> None:
        for each in some:
            each.result.set_exception(error)
            each.result.exception()  # read here, for nobody may wait for it any more
            del self._waiting[each.item]

    def _cache_result(self, item: Item, result: Result) -> None:
        self._cache[item] = result
        self._cache.move_to_end(item)
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    async def close(self) -> None:
        """Wait for the runs of the model that have begun; what waits for one fails."""
        self._closed = True
        waiting, self._queue = self._queue, []
        self._fail(waiting, UnavailableError(_CLOSED))
        await asyncio.gather(*self._working)
        self._executor.shutdown()
