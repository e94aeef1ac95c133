"""What services say they keep is what they keep."""

from pathlib import Path

from fourtier.engines.stores import stores_of
from fourtier.flows.model import read_flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.process.host import run_services
from fourtier.runtime.service.registry import load_service, service_names
from fourtier.runtime.settings import Settings


async def test_a_service_opens_the_stores_that_it_tells_of_and_no_others(tmp_path: Path) -> None:
    # A model that is named, or the bundled one would be loaded.
    model = {"model_url": "http://127.0.0.1:9", "model_name": "none", "model_key": None}
    plan = host_plan(read_flow("laptop"), Settings(data=tmp_path, **model))
    async with run_services(MemoryBus(), plan):
        pass
    told = {name: stores_of(load_service(name)) for name in plan.services}
    assert made(tmp_path, "graph.lbug") == {
        (name, "graph.lbug") for name, stores in told.items() if stores.graph
    }
    assert made(tmp_path, "vectors-*") == {
        (name, f"vectors-{each.name}")
        for name, stores in told.items()
        for each in stores.collections
    }


def made(data: Path, pattern: str) -> set[tuple[str, str]]:
    return {(place.parent.name, place.name) for place in data.glob(f"*/{pattern}")}


def test_no_two_services_keep_the_same_thing() -> None:
    """On a server they share one place."""
    stores = [stores_of(load_service(name)) for name in service_names()]
    labels = [node.label for each in stores if each.graph for node in each.graph.nodes]
    collections = [collection.name for each in stores for collection in each.collections]
    assert labels
    assert len(labels) == len(set(labels))
    assert collections
    assert len(collections) == len(set(collections))
