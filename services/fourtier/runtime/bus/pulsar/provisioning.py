"""Tenant, namespace, topics and groups on Pulsar, seen and made before the services start.

Messages that are published before a group has a consumer are stored only if the group exists: a
topic that a broker makes when it is first used has none.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel

from fourtier.runtime.bus.config import RetentionPolicy
from fourtier.runtime.bus.pulsar.admin import AdminConfig, PulsarAdmin, open_admin
from fourtier.runtime.bus.pulsar.policies import (
    SECONDS_PER_DAY,
    Policies,
    Policy,
    policies,
)
from fourtier.runtime.provisioning import State, Step

Act = Callable[[], Awaitable[None]]

#: The oldest message that there is.
_EARLIEST = {"ledgerId": -1, "entryId": -1, "partitionIndex": -1}


@dataclass(frozen=True, slots=True)
class BusNeeds:
    """What a flow needs of its bus.

    Attributes:
        groups: for each persistent topic, the groups that its messages are stored for.
        dead_letters: likewise for the dead-letter queues, whose messages expire later.
    """

    tenant: str
    namespace: str
    groups: Mapping[str, Sequence[str]]
    dead_letters: Mapping[str, Sequence[str]]
    retention: RetentionPolicy = RetentionPolicy()


class _Tenant(BaseModel):
    """Only whether it exists matters."""


class BusProvisioner:
    """Makes what a flow needs. Opened by `provision_bus`."""

    def __init__(self, admin: PulsarAdmin, needs: BusNeeds) -> None:
        self._admin = admin
        self._needs = needs
        self._path = needs.tenant, needs.namespace

    async def plan(self) -> Sequence[Step]:
        """Steps for the tenant, the namespace, its policies, and each topic with its groups."""
        there = await self._admin.get(Policies, "namespaces", *self._path)
        tenant, namespace = f"tenant {self._needs.tenant}", f"namespace {'/'.join(self._path)}"
        steps = [
            _step(tenant, await self._has_tenant(there) or None, self._make_tenant),
            _step(namespace, there is not None or None, self._make_namespace),
        ]
        wanted = policies(self._needs.retention, there or Policies())
        steps += [self._policy(policy) for policy in wanted]
        topics = await self._topics() if there is not None else set[str]()
        for topic, groups in sorted(self._needs.groups.items()):
            steps.append(await self._topic(topic, groups, is_there=topic in topics))
        for topic, groups in sorted(self._needs.dead_letters.items()):
            steps.append(await self._dead_letters(topic, groups, is_there=topic in topics))
        return steps

    async def _has_tenant(self, there: Policies | None) -> bool:
        if there is not None:
            # Only a cluster's owner may look at a tenant; others see it by its namespace.
            return True
        return await self._admin.get(_Tenant, "tenants", self._needs.tenant) is not None

    async def _make_tenant(self) -> None:
        clusters = await self._admin.get(list[str], "clusters") or []
        body = {"adminRoles": [], "allowedClusters": [*clusters]}
        await self._admin.put("tenants", self._needs.tenant, body=body)

    async def _make_namespace(self) -> None:
        await self._admin.put("namespaces", *self._path, body={})

    def _policy(self, policy: Policy) -> Step:
        act = partial(
            self._admin.post,
            "namespaces",
            *self._path,
            policy.path,
            body=policy.body,
            **policy.query,
        )
        return _step(policy.name, policy.is_so, act, policy.note)

    async def _topics(self) -> set[str]:
        """Topics by the last part of their names; a partitioned one counts as one."""
        whole = await self._admin.get(list[str], "persistent", *self._path) or []
        partitioned = (
            await self._admin.get(list[str], "persistent", *self._path, "partitioned") or []
        )
        return {name.rpartition("/")[2] for name in (*whole, *partitioned)}

    async def _topic(self, topic: str, groups: Sequence[str], *, is_there: bool) -> Step:
        path = "persistent", *self._path, topic
        known = await self._admin.get(list[str], *path, "subscriptions") if is_there else None
        missing = [group for group in groups if group not in (known or [])]

        async def make() -> None:
            await self._admin.put(*path)
            for group in missing:
                await self._admin.put(*path, "subscription", group, body=_EARLIEST)

        note = f"for {', '.join(groups)}"
        if known is None:
            return _step(f"topic {topic}", None, make, note)
        lacks = f"{note}; without {', '.join(missing)}" if missing else note
        return _step(f"topic {topic}", not missing, make, lacks)

    async def _dead_letters(self, topic: str, groups: Sequence[str], *, is_there: bool) -> Step:
        """A topic as any other, but that its messages expire later."""
        step = await self._topic(topic, groups, is_there=is_there)
        days = self._needs.retention.dead_letter_ttl_days
        path, seconds = ("persistent", *self._path, topic, "messageTTL"), days * SECONDS_PER_DAY
        set_to = await self._admin.get(int, *path) if is_there else None

        async def make() -> None:
            if step.act is not None:
                await step.act()
            await self._admin.post(*path, messageTTL=str(seconds))

        note = f"{step.note}; {f'{days} days' if days else 'never expire'}"
        if step.state is State.THERE and set_to != seconds:
            return Step("bus", step.what, State.DIFFERENT, note, make)
        return replace(step, note=note, act=step.act and make)


def _step(what: str, is_so: bool | None, act: Act, note: str = "") -> Step:
    """A step that is to be done unless it is so; None is for what is not there at all."""
    if is_so:
        return Step("bus", what, State.THERE, note)
    return Step("bus", what, State.MISSING if is_so is None else State.DIFFERENT, note, act)


@asynccontextmanager
async def provision_bus(config: AdminConfig, needs: BusNeeds) -> AsyncGenerator[BusProvisioner]:
    """Prepare to look after a broker.

    Raises:
        StartupError: the certificates cannot be read.
    """
    async with open_admin(config) as admin:
        yield BusProvisioner(admin, needs)
