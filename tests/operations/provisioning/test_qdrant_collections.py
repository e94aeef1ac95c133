"""Collections on Qdrant: on the client's local mode, and what only a server does on a stand-in."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from qdrant_client import AsyncQdrantClient
from qdrant_client.models import (
    BinaryQuantization,
    CollectionInfo,
    ScalarQuantization,
    VectorParams,
)

from fourtier.engines.config import EngineConfig
from fourtier.engines.vectors.qdrant import QdrantVectorStore
from fourtier.engines.vectors.qdrant.collections import create_collection, differences
from fourtier.engines.vectors.qdrant.provisioning import VectorsProvisioner, provision_vectors
from fourtier.runtime.errors import StartupError
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.service.engines import CollectionsConfig
from fourtier.runtime.service.stores.schemas import Collection, Fields
from fourtier.runtime.service.stores.vectors import Point
from fourtier.schema.message import Scope, Vector
from tests.operations.provisioning.standin import Answer, failing, standing_in

#: Local mode has no payload indexes; it says so.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

FACTS = Collection("facts", Fields(["valid"]))
USES = Collection("uses", dimensions=1)
LAYOUT = CollectionsConfig(shards=3, replicas=2, write_replicas=2, quantisation="scalar")
KEY = "a-key-that-nobody-may-see"


@pytest.fixture
async def client() -> AsyncGenerator[AsyncQdrantClient]:
    client = AsyncQdrantClient(":memory:")
    yield client
    await client.close()


def config(**changed: Any) -> EngineConfig:
    return EngineConfig(Path("unused"), dimensions=4, **changed)


async def plan(client: AsyncQdrantClient, **changed: Any) -> Sequence[Step]:
    return await VectorsProvisioner(client, config(**changed), [FACTS, USES]).plan()


async def do(steps: Sequence[Step]) -> None:
    for step in steps:
        if step.act is not None:
            await step.act()


def dense(info: CollectionInfo) -> VectorParams:
    vectors = info.config.params.vectors
    assert isinstance(vectors, dict)
    return vectors["dense"]


async def test_collections_are_made_once_and_their_points_stay(
    client: AsyncQdrantClient,
) -> None:
    first = await plan(client)
    assert [(step.what, step.state, step.note) for step in first] == [
        (
            "collection facts",
            State.MISSING,
            "4 dimensions, 1 shards in 1 copies, quantisation none",
        ),
        ("index facts.scope", State.MISSING, "tenant"),
        ("index facts.valid", State.MISSING, ""),
        ("collection uses", State.MISSING, "1 dimensions, 1 shards in 1 copies, quantisation none"),
        ("index uses.scope", State.MISSING, "tenant"),
    ]
    await do(first)
    store, ann = QdrantVectorStore(client, "facts", 4, Fields(["kind"])), Scope("ann", "c")
    await store.upsert(ann, [Point.of("one", Vector.of([1, 0, 0, 0]), "one")])

    second = await plan(client)
    await do(second)

    assert [step.what for step in second if step.state is State.THERE] == [
        "collection facts",
        "collection uses",
    ]
    assert await store.count(ann) == 1


async def test_collections_of_a_flow_that_shares_the_server_have_its_prefix(
    client: AsyncQdrantClient,
) -> None:
    steps = await plan(client, collections=CollectionsConfig(prefix="sales-"))
    await do(steps)

    assert steps[0].what == "collection sales-facts"
    assert steps[1].what == "index sales-facts.scope"
    made = (await client.get_collections()).collections
    assert {each.name for each in made} == {"sales-facts", "sales-uses"}
    assert {step.state for step in await plan(client)} == {State.MISSING}


async def test_planning_makes_nothing(client: AsyncQdrantClient) -> None:
    await plan(client)
    assert not (await client.get_collections()).collections


async def test_only_vectors_of_meaning_are_quantised(client: AsyncQdrantClient) -> None:
    await do(await plan(client, collections=CollectionsConfig(quantisation="binary")))
    facts, uses = await client.get_collection("facts"), await client.get_collection("uses")
    assert isinstance(dense(facts).quantization_config, BinaryQuantization)
    assert dense(uses).quantization_config is None


async def test_a_collection_that_differs_is_reported_and_changed_in_place(
    client: AsyncQdrantClient,
) -> None:
    await do(await plan(client))
    changed = CollectionsConfig(shards=3, quantisation="scalar", vectors_on_disk=True)
    facts, *_ = await plan(client, collections=changed)
    assert facts.state is State.DIFFERENT
    assert facts.note == (
        "quantisation none instead of scalar, vectors-on-disk False instead of True; "
        "shards 1 instead of 3: left as it is, to be moved by hand"
    )
    assert facts.act is not None


async def test_what_only_people_can_move_is_left(client: AsyncQdrantClient) -> None:
    await do(await plan(client))
    facts, *_ = await plan(client, collections=CollectionsConfig(replicas=3))
    assert (facts.state, facts.act) == (State.DIFFERENT, None)


async def test_a_collection_of_another_embedding_model_is_a_startup_error(
    client: AsyncQdrantClient,
) -> None:
    await create_collection(client, "facts", 8, Fields())
    with pytest.raises(StartupError, match="facts has vectors of 8 dimensions"):
        await plan(client)


def info(**params: Any) -> dict[str, Any]:
    """What a server says of a collection; only what matters here is not made up."""
    dense = {"size": 4, "distance": "Cosine", **params.pop("dense", {})}
    return {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": 1,
        "payload_schema": {"scope": {"data_type": "keyword", "points": 0}},
        "config": {
            "params": {"vectors": {"dense": dense}, "sparse_vectors": {"sparse": {}}, **params},
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1_000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
        },
    }


def server_with(facts: dict[str, Any] | None) -> Answer:
    """Qdrant, as far as these tests ask it; `facts` is its one collection."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return web.json_response({"title": "qdrant", "version": "1.19.0"})
        result: Any = True
        if request.path.endswith("/exists"):
            result = {"exists": facts is not None}
        elif request.path.endswith("/index"):
            result = {"operation_id": 1, "status": "completed"}
        elif request.method == "GET":
            result = facts
        return web.json_response({"result": result, "status": "ok", "time": 0.0})

    return answer


async def test_a_server_is_asked_for_what_the_flow_says() -> None:
    async with (
        standing_in(server_with(None)) as server,
        provision_vectors(
            config(vectors_url=server.url, collections=LAYOUT), [FACTS]
        ) as provisioner,
    ):
        await do(await provisioner.plan())
    asked = dict(zip(server.asked, server.bodies, strict=True))
    made = asked["PUT", "/collections/facts"]
    assert made["shard_number"] == 3
    assert made["replication_factor"] == 2
    assert made["write_consistency_factor"] == 2
    scalar = {"type": "int8", "always_ram": True}
    assert made["vectors"]["dense"]["quantization_config"] == {"scalar": scalar}
    schemas = [
        body
        for (_, path), body in zip(server.asked, server.bodies, strict=True)
        if path.endswith("/index")
    ]
    assert schemas == [
        {"field_name": "scope", "field_schema": {"type": "keyword", "is_tenant": True}},
        {"field_name": "valid", "field_schema": "keyword"},
    ]


async def test_a_server_changes_what_it_can_in_place() -> None:
    existing = info(shard_number=3, replication_factor=2, write_consistency_factor=1)
    async with (
        standing_in(server_with(existing)) as server,
        provision_vectors(
            config(vectors_url=server.url, collections=LAYOUT), [FACTS]
        ) as provisioner,
    ):
        facts, scope, valid = await provisioner.plan()
        assert facts.note == "write-replicas 1 instead of 2, quantisation none instead of scalar"
        assert (scope.state, valid.state) == (State.THERE, State.MISSING)
        await do([facts])
    assert server.asked[-1] == ("PATCH", "/collections/facts")
    changed = server.bodies[-1]
    assert changed["params"] == {"write_consistency_factor": 2}
    assert changed["vectors"]["dense"]["quantization_config"]["scalar"]["type"] == "int8"


def test_quantisation_that_is_not_ours_differs() -> None:
    product = {"product": {"compression": "x16"}}
    existing = CollectionInfo.model_validate(info(dense={"quantization_config": product}))
    assert differences(existing, CollectionsConfig()) == (
        "quantisation of another kind instead of none",
        "",
    )
    scalar = {"scalar": {"type": "int8"}}
    existing = CollectionInfo.model_validate(info(dense={"quantization_config": scalar}))
    assert isinstance(dense(existing).quantization_config, ScalarQuantization)
    assert differences(existing, CollectionsConfig(quantisation="scalar")) == ("", "")


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection:UserWarning")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (failing(401, f"{KEY} is wrong"), "rejects the key: set FOURTIER_VECTORS_KEY"),
        (failing(403, KEY), "rejects the key"),
        (failing(500, f"no\n{KEY}"), r"cannot be used: 500 .*\[secret\]"),
    ],
)
async def test_an_error_of_the_server_is_one_line_without_the_key(
    answer: Answer, said: str
) -> None:
    async with standing_in(answer) as server:
        with pytest.raises(StartupError, match=said) as raised:
            async with provision_vectors(config(vectors_url=server.url, vectors_key=KEY), []):
                pass
    assert KEY not in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_certificates_that_are_not_there() -> None:
    nowhere = config(vectors_url="https://127.0.0.1:9", vectors_trust=Path("/no/such.pem"))
    with pytest.raises(StartupError, match=r"certificates /no/such\.pem cannot be used"):
        async with provision_vectors(nowhere, []):
            pass
