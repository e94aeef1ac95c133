"""One writer and two readers on a graph, every row compared: run as a script until it is killed.

What a transaction writes follows from the seed and its number alone. So whoever knows how many were
confirmed knows each row, and each row says by which transaction it was written last.
"""

import asyncio
import random
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fourtier.engines.erasing import ErasureSchedule
from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.runtime.service.stores.graph import GraphStore, Row, Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node, Relation

_TEXTS = tuple(f"text{number}" for number in range(3))
SCHEMA = GraphSchema(
    nodes=[
        Node("SoakRow", {"id": "STRING", **dict.fromkeys(_TEXTS, "STRING"), "version": "INT64"}),
        Node("SoakGroup", {"id": "STRING"}),
    ],
    relations=[Relation("SOAK_HOLDS", "SoakGroup", "SoakRow")],
)
_GROUPS = 20
_MOST_ROWS = 10_000
_BATCH = 25
_READERS = 2
_ALL_SHARE, _GROUPS_SHARE = 0.002, 0.05
#: A graph from which something was deleted is rewritten often.
_ERASURE = ErasureSchedule(overdue=5.0, pause_factor=1.0)

_GROUP = "UNWIND $groups AS row CREATE (g:SoakGroup {id: row.id})"
_SET = ", ".join(f"r.{name} = row.{name}" for name in (*_TEXTS, "version"))
_CREATE = f"""
UNWIND $rows AS row
MATCH (g:SoakGroup {{id: row.holder}})
CREATE (g)-[:SOAK_HOLDS]->(r:SoakRow {{id: row.id}})
SET {_SET}
"""
_CHANGE = f"UNWIND $rows AS row MATCH (r:SoakRow {{id: row.id}}) SET {_SET} RETURN r.id AS id"
_DELETE = "UNWIND $ids AS wanted MATCH (r:SoakRow {id: wanted}) DETACH DELETE r"
_RETURN = f"""
MATCH (r:SoakRow {{id: wanted}})
RETURN r.id AS id, {", ".join(f"r.{name} AS {name}" for name in _TEXTS)}, r.version AS version
"""
#: As the services read: by ids, along a relation, and all.
_BY_IDS = f"UNWIND $ids AS wanted {_RETURN}"
_BY_GROUPS = f"""
MATCH (g:SoakGroup)-[:SOAK_HOLDS]->(held:SoakRow) WHERE g.id IN $ids
WITH held.id AS wanted {_RETURN}
"""
_ALL = f"MATCH (:SoakGroup)-[:SOAK_HOLDS]->(held:SoakRow) WITH held.id AS wanted {_RETURN}"


def _row(name: str, version: int) -> Row:
    """What the row says that a transaction has written."""
    length = 1 + version % 20
    texts = {text: f"{text} of {name} in {version}; " * length for text in _TEXTS}
    return {"id": name, "version": version, **texts}


def _holder(name: str) -> str:
    return f"group {int(name) % _GROUPS}"


@dataclass(frozen=True, slots=True)
class Change:
    """What one transaction writes."""

    number: int
    created: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()

    def statements(self) -> list[Statement]:
        """The transaction."""
        statements: list[Statement] = []
        if self.created:
            statements.append(Statement(_CREATE, {"rows": self._rows(self.created)}))
        if self.changed:
            rows = self._rows(self.changed)
            statements.append(Statement(_CHANGE, {"rows": rows}, rows=len(rows)))
        if self.deleted:
            statements.append(Statement(_DELETE, {"ids": sorted(self.deleted)}))
        return statements

    def _rows(self, names: Iterable[str]) -> list[Row]:
        return [{**_row(name, self.number), "holder": _holder(name)} for name in sorted(names)]


@dataclass
class Model:
    """What the graph has: the version of each row.

    Attributes:
        done: how many transactions were confirmed.
        writing: the one that may be stored already.
        named: how many names were given to rows.
    """

    seed: int
    done: int = 0
    versions: dict[str, int] = field(default_factory=dict)
    writing: Change | None = None
    named: int = 0

    def next(self) -> Change:
        """The transaction that comes now."""
        chance = random.Random(f"{self.seed}/{self.done}")  # noqa: S311 - not for secrets
        known = sorted(self.versions)
        size = chance.randint(1, _BATCH)
        if len(known) < _BATCH or (len(known) < _MOST_ROWS and chance.random() < 0.7):
            names = range(self.named, self.named + size)
            return Change(self.done, created=frozenset(map(str, names)))
        some = frozenset(chance.sample(known, size))
        if chance.random() < 0.05:
            return Change(self.done, deleted=some)
        return Change(self.done, changed=some)

    def confirm(self, change: Change) -> None:
        """Take over what a transaction has written."""
        self.done += 1
        self.named += len(change.created)
        self.versions |= dict.fromkeys(change.created | change.changed, change.number)
        for name in change.deleted:
            del self.versions[name]


def _model(seed: int, done: int) -> Model:
    model = Model(seed)
    while model.done < done:
        model.confirm(model.next())
    return model


async def _read(store: GraphStore, text: str, **parameters: list[str]) -> dict[str, int]:
    """The version of each row, each compared with what that version wrote."""
    rows = await store.read(None, text, **parameters)
    for found in rows:
        expected = _row(str(found["id"]), int(found["version"]))
        if found != expected:
            raise AssertionError(f"found {found} instead of {expected}")
    return {str(found["id"]): int(found["version"]) for found in rows}


async def _opened(store: GraphStore, seed: int, confirmed: int) -> Model:
    """The model of what was found: all that was confirmed, and maybe the transaction behind it."""
    found = await _read(store, _ALL)
    for done in (confirmed, confirmed + 1):
        model = _model(seed, done)
        if found == model.versions:
            return model
    expected = _model(seed, confirmed).versions
    raise AssertionError(f"after {confirmed}: {_difference(found, expected)}")


def _difference(found: Mapping[str, int], expected: Mapping[str, int]) -> str:
    names = sorted(found.keys() | expected.keys())
    return ", ".join(
        f"{name}: {found.get(name)} instead of {expected.get(name)}"
        for name in names
        if found.get(name) != expected.get(name)
    )


async def _read_some(store: GraphStore, model: Model, chance: random.Random) -> None:
    """Compare what a reader finds with what was confirmed before, and with what came meanwhile."""
    kind, confirmed, done = chance.random(), dict(model.versions), model.done
    if kind < _ALL_SHARE:
        found = await _read(store, _ALL)
    elif kind < _GROUPS_SHARE:
        groups = [f"group {number}" for number in chance.sample(range(_GROUPS), 2)]
        confirmed = {name: confirmed[name] for name in confirmed if _holder(name) in groups}
        found = await _read(store, _BY_GROUPS, ids=groups)
    else:
        # Some of them are not there yet.
        names = [str(chance.randrange(model.named + _BATCH)) for _ in range(_BATCH)]
        confirmed = {name: confirmed[name] for name in names if name in confirmed}
        found = await _read(store, _BY_IDS, ids=sorted(set(names)))
    deleted = model.writing.deleted if model.writing else frozenset()
    for name in confirmed.keys() | found.keys():
        version = found.get(name)
        if version is None:
            right = name not in model.versions or name in deleted
        else:
            right = version == confirmed.get(name) or done <= version <= model.done
        if not right:
            raise AssertionError(f"{name}: read {version} instead of {confirmed.get(name)}")


async def _soak(file: Path, seed: int, confirmed: int, more: int) -> None:
    async with open_ladybug(file, SCHEMA, erasure=_ERASURE) as store:
        if not await store.read(None, "MATCH (g:SoakGroup) RETURN g.id AS id LIMIT 1"):
            groups = [{"id": f"group {number}"} for number in range(_GROUPS)]
            await store.write(None, Statement(_GROUP, {"groups": groups}))
        model = await _opened(store, seed, confirmed)
        last = model.done + more
        print(model.done, flush=True)  # noqa: T201 - to the test

        async def write() -> None:
            while model.done < last:
                change = model.writing = model.next()
                await store.write(None, *change.statements())
                model.confirm(change)
                print(model.done, flush=True)  # noqa: T201

        async def read(number: int) -> None:
            chance = random.Random(f"{seed}/{confirmed}/reader {number}")  # noqa: S311
            while model.done < last:
                await _read_some(store, model, chance)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            for number in range(_READERS):
                tasks.create_task(read(number))


if __name__ == "__main__":
    path, *numbers = sys.argv[1:]
    asyncio.run(_soak(Path(path), *map(int, numbers)))
