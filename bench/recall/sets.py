"""The data sets by their names, and which tier each is asked of."""

from collections.abc import Callable, Mapping, Sequence

from bench.recall.datasets import Dataset, hotpotqa, locomo, longmemeval
from bench.recall.fact_consolidation import fact_consolidation
from bench.recall.taubench import taubench

SETS: Mapping[str, Callable[[], Dataset]] = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "hotpotqa": hotpotqa,
    "factconsolidation": fact_consolidation,
    "taubench": taubench,
}
#: Those that only one tier can know.
_ONE_TIER = {"factconsolidation": "facts", "taubench": "episodes"}


def tiers_of(name: str, wanted: Sequence[str]) -> Sequence[str]:
    """The tiers that a data set is asked of."""
    return [_ONE_TIER[name]] if name in _ONE_TIER else wanted
