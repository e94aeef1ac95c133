"""Make what a flow needs of its servers, as far as it is not there."""

from dataclasses import dataclass

from fourtier.flows.model import Flow
from fourtier.flows.provisioning import provisioners
from fourtier.runtime.provisioning import State, Step
from fourtier.runtime.settings import Settings

_DONE = {State.MISSING: "made", State.DIFFERENT: "changed"}
_TO_DO = {State.MISSING: "would be made", State.DIFFERENT: "would be changed"}


@dataclass(frozen=True, slots=True)
class Provisioned:
    """One thing that the flow needs, and what became of it.

    Attributes:
        engine: `bus`, `graph` or `vectors`.
        state: such as `is there`, `made` or `would be changed`.
    """

    engine: str
    what: str
    state: str
    note: str

    @property
    def unchanged(self) -> bool:
        """Whether it was there already."""
        return self.state == State.THERE.value


async def provision(flow: Flow, settings: Settings, *, dry_run: bool) -> list[Provisioned]:
    """Look at all servers, and only then begin to make what is missing.

    Raises:
        StartupError: a server cannot be reached, or does not let us in.
        FlowError: a service is unknown or has a wrong parameter.
    """
    async with provisioners(flow, settings) as servers:
        steps = [step for server in servers for step in await server.plan()]
        for step in steps:
            if step.act is not None and not dry_run:
                await step.act()
    return [_outcome(step, dry_run=dry_run) for step in steps]


def _outcome(step: Step, *, dry_run: bool) -> Provisioned:
    state = step.state.value
    if step.act is not None:
        state = (_TO_DO if dry_run else _DONE)[step.state]
    return Provisioned(step.engine, step.what, state, step.note)
