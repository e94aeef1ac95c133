"""One Cypher text for both engines: each statement of each service is planned by each engine."""

import importlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.neo4j import open_neo4j
from fourtier.engines.graph.queries import load_queries
from fourtier.runtime.service.stores.graph import GraphStore, Parameter, Statement, Value
from fourtier.runtime.service.stores.schemas import GraphSchema
from fourtier.schema.message import Scope
from tests.cluster.servers import SERVERS

ROOT = Path("services/fourtier")
FILES = sorted(ROOT.rglob("*.cypher"))
SCOPE = Scope("ann", "default")

SAMPLES: Mapping[str, Value] = {"STRING": "x", "INT64": 1, "DOUBLE": 0.5, "BOOL": True}
_PARAMETER = re.compile(r"\$(\w+)")
_UNWOUND = re.compile(r"UNWIND \$(\w+) AS (\w+)")


@dataclass(frozen=True)
class Named:
    """A statement, and the file that it is in."""

    package: str
    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.package.removeprefix('fourtier.')}/{self.name}"

    @property
    def text(self) -> str:
        return load_queries(self.package, self.file)[self.name]


def _named() -> Iterator[Named]:
    for file in FILES:
        package = ".".join(["fourtier", *file.parent.relative_to(ROOT).parts])
        for name in load_queries(package, file.name):
            yield Named(package, file.name, name)


def _schema(package: str) -> GraphSchema:
    """What the modules of a package declare, in one schema."""
    modules = [
        importlib.import_module(f"{package}.{module.stem}")
        for module in ROOT.joinpath(*package.split(".")[1:]).glob("*.py")
    ]
    schemas = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, GraphSchema)
    }.values()
    return GraphSchema(
        nodes=[node for schema in schemas for node in schema.nodes],
        relations=[relation for schema in schemas for relation in schema.relations],
    )


def _guesses(text: str, schema: GraphSchema) -> Iterator[dict[str, Parameter]]:
    """Parameters that the statement may have been written for, one set after the other.

    A name that is a property's has its type; what the type of another may be is tried.
    """
    kinds = {name: kind for node in schema.nodes for name, kind in node.properties.items()}
    known: dict[str, Parameter] = {}
    for name, variable in _UNWOUND.findall(text):
        keys = set(re.findall(rf"\b{variable}\.(\w+)", text))
        one: Value | dict[str, Value] = "x"
        if keys:
            one = {key: SAMPLES[kinds.get(key, "STRING")] for key in keys}
        known[name] = [one]  # type: ignore[list-item]
    others = sorted(set(_PARAMETER.findall(text)) - known.keys() - {"scope"})
    choices: Sequence[Sequence[Parameter]] = [
        [SAMPLES[kinds[name]]] if name in kinds else [*SAMPLES.values(), ["x"]] for name in others
    ]
    for values in itertools.product(*choices):
        yield known | dict(zip(others, values, strict=True))


async def _planned(store: GraphStore, statement: Named) -> str:
    """An empty text, or what the engine says of the last guess."""
    scope = SCOPE if "scope" in _PARAMETER.findall(statement.text) else None
    failure = "there was nothing to try"
    for parameters in _guesses(statement.text, _schema(statement.package)):
        try:
            await store.write(scope, Statement(f"EXPLAIN {statement.text}", parameters))
        except Exception as error:  # noqa: BLE001 - the engines share no class of errors
            failure = f"{error} (tried {parameters})"
        else:
            return ""
    return failure


def _opened(engine: str, directory: Path, package: str) -> AbstractAsyncContextManager[GraphStore]:
    schema = _schema(package)
    if engine == "neo4j":
        return open_neo4j(str(SERVERS.neo4j_url), schema, user=None, password=None)
    return open_ladybug(directory / "graph.lbug", schema)


NEO4J = pytest.param(
    "neo4j",
    marks=[
        pytest.mark.cluster,
        pytest.mark.skipif(
            SERVERS.neo4j_url is None, reason="FOURTIER_TEST_NEO4J_URL names no server"
        ),
    ],
)


@pytest.fixture(params=["ladybug", NEO4J])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("package", sorted({statement.package for statement in _named()}))
async def test_each_statement_is_planned(engine: str, package: str, tmp_path: Path) -> None:
    async with _opened(engine, tmp_path, package) as store:
        failures = {
            str(statement): failure
            for statement in _named()
            if statement.package == package
            for failure in [await _planned(store, statement)]
            if failure
        }
    assert not failures


async def test_a_wrong_statement_would_be_noticed(engine: str, tmp_path: Path) -> None:
    class Wrong(Named):
        @property
        def text(self) -> str:
            return "UNWIND $ids AS wanted MATCH (f:Fact {id: wanted} RETURN f"

    async with _opened(engine, tmp_path, "fourtier.memory.facts") as store:
        assert await _planned(store, Wrong("fourtier.memory.facts", "queries.cypher", "wrong"))


def test_there_are_statements_to_plan() -> None:
    assert {"facts", "conversations"} <= {file.parent.name for file in FILES}
