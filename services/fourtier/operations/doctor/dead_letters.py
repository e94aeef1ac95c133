"""The messages that the services could not handle: how many, and the oldest of them."""

import asyncio
from collections.abc import Sequence

from fourtier.operations.dead_letters import read_dead_letters
from fourtier.operations.doctor.findings import Finding, checked
from fourtier.runtime.bus.contract import Bus

#: Seconds for which dead letters are counted; more are not needed to see that something is wrong.
_COUNT_WITHIN = 10.0


async def check_dead_letters(bus: Bus, flow: str, services: Sequence[str]) -> list[Finding]:
    """A line for each service that has dead letters, and one for all that have none."""
    found = await asyncio.gather(
        *(
            checked(
                f"dead letters of {service}",
                _check_service(bus, flow, service),
                f"try `fourtier dead-letters list --flow {flow} --service {service}`",
            )
            for service in services
        )
    )
    findings = [finding for each in found for finding in each]
    well = [finding for finding in findings if finding.well]
    none = Finding(what="dead letters", well=True, found=f"none of {len(well)} services")
    return [*([none] if well else []), *(each for each in findings if not each.well)]


async def _check_service(bus: Bus, flow: str, service: str) -> list[Finding]:
    found = await read_dead_letters(bus, service, limit=1, within=_COUNT_WITHIN)
    if not found.total:
        return [Finding(what=service, well=True, found="none")]
    oldest = found.oldest[0]
    options = f"--flow {flow} --service {service}"
    number = f"{found.total:,}" if found.complete else f"at least {found.total:,}"
    return [
        Finding(
            what=f"dead letters of {service}",
            well=False,
            found=f"{number}, the oldest of {oldest.at:%Y-%m-%d %H:%M} UTC on "
            f"{oldest.topic}: {oldest.error}",
            remedy=f"`fourtier dead-letters list {options}`; remove the cause, then "
            f"`fourtier dead-letters replay {options}`",
        )
    ]
