"""Random operations on a vector store, and a model that knows what it should hold then."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from fourtier.runtime.service.stores.vectors import Hit, Point, VectorStore
from fourtier.schema.message import Scope, Vector
from tests.engines.searching import search, similar

#: Not one of them may be taken for another, however their parts are joined.
ALIKE = [Scope("a", "b/c"), Scope("a/b", "c"), Scope("a", "b"), Scope("ä 人", "b")]

EAST, NORTH = Vector.of([1, 0, 0, 0]), Vector.of([0, 1, 0, 0])


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


async def scrolled(store: VectorStore, scope: Scope, page: int) -> list[str]:
    """All ids of a scope, read page by page."""
    found: list[str] = []
    while hits := await store.scroll(scope, page, found[-1] if found else None):
        assert len(hits) <= page
        found += ids(hits)
    return found


@dataclass
class Model:
    """What the store should hold."""

    points: dict[Scope, dict[str, Point]] = field(default_factory=lambda: {s: {} for s in ALIKE})

    async def check(self, store: VectorStore) -> None:
        for scope, mine in self.points.items():
            assert await store.count(scope) == len(mine)
            assert sorted(await scrolled(store, scope, 2)) == sorted(mine)
            found = await search(store, scope, EAST, "cello river zebra", 50)
            assert sorted(ids(found)) == sorted(mine)
            assert sorted(ids(await similar(store, scope, NORTH, 50))) == sorted(mine)
            assert {hit.id: hit.payload for hit in await store.get(scope, _NAMES)} == {
                name: mine[name].payload for name in mine
            }
        assert await store.count(None) == sum(map(len, self.points.values()))


@dataclass
class _Upsert:
    scope: Scope
    points: list[Point]

    async def run(self, store: VectorStore, model: Model) -> None:
        await store.upsert(self.scope, self.points)
        model.points[self.scope] |= {each.id: each for each in self.points}


@dataclass
class _Delete:
    scope: Scope
    names: list[str]

    async def run(self, store: VectorStore, model: Model) -> None:
        known = model.points[self.scope]
        expected = len(set(self.names) & known.keys())
        assert await store.delete(self.scope, self.names) == expected
        for name in self.names:
            known.pop(name, None)


@dataclass
class _DeleteScope:
    scope: Scope

    async def run(self, store: VectorStore, model: Model) -> None:
        assert await store.delete_scope(self.scope) == len(model.points[self.scope])
        model.points[self.scope].clear()


_NAMES = ["a", "b", "c", "ä"]
_SCOPES = st.sampled_from(ALIKE)
_POINTS = st.builds(
    Point.of,
    name=st.sampled_from(_NAMES),
    vector=st.sampled_from([EAST, NORTH, Vector.of([0.5, -1, 2, 0])]),
    text=st.sampled_from(["", "the", "cello", "blue cello", "river zebra"]),
    payload=st.dictionaries(st.sampled_from(["kind", "more"]), st.text(max_size=5)),
)
OPERATIONS = st.one_of(
    st.builds(_Upsert, _SCOPES, st.lists(_POINTS, max_size=4)),
    st.builds(_Delete, _SCOPES, st.lists(st.sampled_from(_NAMES), max_size=4)),
    st.builds(_DeleteScope, _SCOPES),
)
