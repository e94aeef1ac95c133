"""The stores that services declare are the stores that they open."""

from pathlib import Path

from fourtier.flows.model import read_flow
from fourtier.flows.plan import host_plan
from fourtier.runtime.bus.memory import MemoryBus
from fourtier.runtime.process.host import run_services
from fourtier.runtime.service.registry import load_service, service_names
from fourtier.runtime.settings import Settings


async def test_a_service_opens_the_stores_that_it_declares_and_no_others(tmp_path: Path) -> None:
    # A model that is named, or the bundled one would be loaded.
    model = {"model_url": "http://127.0.0.1:9", "model_name": "none", "model_key": None}
    plan = host_plan(read_flow("laptop"), Settings(data=tmp_path, **model))
    async with run_services(MemoryBus(), plan):
        pass
    declared = {name: load_service(name).stores for name in plan.services}
    assert opened(tmp_path, "graph.lbug") == {
        (name, "graph.lbug") for name, stores in declared.items() if stores.graph
    }
    assert opened(tmp_path, "vectors-*") == {
        (name, f"vectors-{each.name}")
        for name, stores in declared.items()
        for each in stores.collections
    }


def opened(data: Path, pattern: str) -> set[tuple[str, str]]:
    return {(path.parent.name, path.name) for path in data.glob(f"*/{pattern}")}


def test_no_two_services_declare_the_same_label_or_collection() -> None:
    """On a server they share one database and one list of collections."""
    stores = [load_service(name).stores for name in service_names()]
    labels = [node.label for each in stores if each.graph for node in each.graph.nodes]
    collections = [collection.name for each in stores for collection in each.collections]
    assert labels
    assert len(labels) == len(set(labels))
    assert collections
    assert len(collections) == len(set(collections))
