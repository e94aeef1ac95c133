"""A Neo4j database by Neo4j's own asynchronous driver."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import LiteralString, cast

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    AsyncDriver,
    AsyncManagedTransaction,
    AsyncSession,
    Query,
    unit_of_work,
)
from neo4j.exceptions import DriverError, Neo4jError, TransientError

from fourtier.engines.graph.binding import bound, bound_all
from fourtier.engines.limits import TimeLimit
from fourtier.runtime.errors import UnavailableError
from fourtier.runtime.service.engines import QUERY_SECONDS
from fourtier.runtime.service.stores.erasure import Remainder
from fourtier.runtime.service.stores.graph import (
    ConflictError,
    Parameter,
    Statement,
    Value,
    require_rows,
)
from fourtier.runtime.service.stores.known_ids import KnownIds
from fourtier.runtime.telemetry.redaction import one_line
from fourtier.schema.message import Scope

log = logging.getLogger(__name__)

#: What a server answers to the later one of two who create the same node, and to who waited for a
#: node that the other one has deleted.
_CONFLICTS = {
    "Neo.ClientError.Schema.ConstraintValidationFailed",
    "Neo.ClientError.Statement.EntityNotFound",
}

#: What it answers to one of two who wait for each other; nothing of that one is stored.
_DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"

#: What it answers when it has ended a transaction at the limit that came with it.
_TIMED_OUT = {
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
}

_CHECKPOINT = "CALL db.checkpoint() YIELD success RETURN success"
_LOGS = Remainder(
    "the transaction logs of Neo4j",
    "they are full (db.tx_log.rotation.size) and a checkpoint comes after "
    "db.tx_log.rotation.retention_policy (256 MB and 2 days unless they are set)",
)
_RECORDS = Remainder(
    "freed records in the store files of Neo4j, which no query reads",
    "they are used again, or the database is copied (neo4j-admin database copy)",
)

_NULL = {type(None)}
NO_ADDRESS = TimeLimit("Neo4j", QUERY_SECONDS)


class Neo4jGraphStore:
    """A database on a server.

    A statement alone is its own transaction and takes one round trip; a managed transaction of the
    driver takes four. So a read took 1.2 ms instead of 2.8, and a write 1.6 instead of 5.0.

    The time limit is sent along, so that the server ends what takes longer, and holds here too, for
    a server that does not answer at all.
    """

    def __init__(
        self, driver: AsyncDriver, database: str | None = None, limit: TimeLimit = NO_ADDRESS
    ) -> None:
        self.known_ids = KnownIds()
        self._driver = driver
        self._database = database
        self._limit = limit
        self._run_all = unit_of_work(timeout=limit.seconds)(_run_all)

    async def read(
        self, scope: Scope | None, text: str, **parameters: Parameter
    ) -> list[dict[str, Value]]:
        """Run one statement that changes nothing; a dict for each row.

        Raises:
            UnavailableError: the server cannot be reached, cannot serve now, or takes longer than
                the time limit.
        """
        ready = Statement(text, bound(scope, text, parameters))
        async with self._limit.applied():
            try:
                rows = await self._alone(ready, READ_ACCESS)
            except UnavailableError:
                # The pool may hold a connection from before a restart of the server.
                rows = await self._alone(ready, READ_ACCESS)
        # Of a node that another writer deletes at this time, what was not read before is null.
        return [row for row in rows if _NULL.isdisjoint(map(type, row.values()))]

    async def write(
        self, scope: Scope | None, *statements: Statement
    ) -> list[list[dict[str, Value]]]:
        """Run statements in one transaction; on disk when this returns.

        Raises:
            UnavailableError: as `read`. The transaction may have been carried out all the same: who
                tries again first reads what is there.
            ConflictError: as the protocol says.
        """
        ready = bound_all(scope, statements)
        async with self._limit.applied():
            if len(ready) == 1 and ready[0].rows is None:
                try:
                    return [await self._alone(ready[0], WRITE_ACCESS)]
                except UnavailableError as error:
                    if not isinstance(error.__cause__, TransientError):
                        raise
                    # As a deadlock: the server has carried nothing out and wants it once more.
            async with self._session(WRITE_ACCESS) as session:
                return await session.execute_write(self._run_all, ready)

    async def erase(self) -> tuple[Remainder, ...]:
        """Have the server write its checkpoint, behind which it removes old transaction logs.

        Which logs it removes, and when it uses freed records again, the server decides. The
        Community edition has no call for a checkpoint, and not every user may ask for one: then the
        server's own is waited for (db.checkpoint.interval.time).
        """
        try:
            await self.write(None, Statement(_CHECKPOINT))
        except Neo4jError as error:
            log.info("%s wrote no checkpoint: %s", self._limit.store, one_line(error))
        return (_LOGS, _RECORDS)

    async def _alone(self, statement: Statement, access: str) -> list[dict[str, Value]]:
        query = Query(_literal(statement), timeout=self._limit.seconds)
        async with self._session(access) as session:
            result = await session.run(query, dict(statement.parameters))
            return await result.data()

    @asynccontextmanager
    async def _session(self, access: str) -> AsyncGenerator[AsyncSession]:
        """A session of the driver.

        Raises:
            UnavailableError: as `read`.
        """
        try:
            opening = self._driver.session(default_access_mode=access, database=self._database)
            async with opening as session:
                yield session
        except (DriverError, Neo4jError) as error:
            code = error.code if isinstance(error, Neo4jError) else ""
            if code in _CONFLICTS:
                raise ConflictError(one_line(error)) from error
            if code in _TIMED_OUT:
                raise self._limit.exceeded() from error
            if not error.is_retryable():
                raise
            reason = one_line(error)
            raise UnavailableError(f"{self._limit.store} cannot be reached: {reason}") from error


def _literal(statement: Statement) -> LiteralString:
    # All texts come from our own files; mypy takes LiteralString for str, pyright does not.
    return cast("LiteralString", statement.text)  # type: ignore[redundant-cast]


async def _run_all(
    transaction: AsyncManagedTransaction, statements: Sequence[Statement]
) -> list[list[dict[str, Value]]]:
    results: list[list[dict[str, Value]]] = []
    for each in statements:
        try:
            result = await transaction.run(_literal(each), dict(each.parameters))
            rows: list[dict[str, Value]] = await result.data()
        except Neo4jError as error:
            # The driver would pause for a second before it tries again.
            if error.code != _DEADLOCK:
                raise
            raise ConflictError(one_line(error)) from error
        require_rows(each, rows)
        results.append(rows)
    return results
