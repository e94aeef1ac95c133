"""What the services could not handle."""

import asyncio
from collections.abc import Sequence

from fourtier.operations.dead_letters import list_dead_letters
from fourtier.operations.doctor.findings import Finding, checked
from fourtier.runtime.bus.contract import Bus


async def read_dead_letters(bus: Bus, flow: str, services: Sequence[str]) -> list[Finding]:
    """A line for each service that has dead letters, and one for all that have none."""
    found = await asyncio.gather(
        *(
            checked(
                f"dead letters of {service}",
                _letters_of(bus, flow, service),
                f"try `fourtier dead-letters list --flow {flow} --service {service}`",
            )
            for service in services
        )
    )
    findings = [finding for each in found for finding in each]
    well = [finding for finding in findings if finding.well]
    none = Finding(what="dead letters", well=True, found=f"none of {len(well)} services")
    return [*([none] if well else []), *(each for each in findings if not each.well)]


async def _letters_of(bus: Bus, flow: str, service: str) -> list[Finding]:
    letters = await list_dead_letters(bus, service)
    if not letters:
        return [Finding(what=service, well=True, found="none")]
    oldest = letters[0]
    options = f"--flow {flow} --service {service}"
    return [
        Finding(
            what=f"dead letters of {service}",
            well=False,
            found=f"{len(letters):,}, the oldest of {oldest.at:%Y-%m-%d %H:%M} UTC on "
            f"{oldest.topic}: {oldest.error}",
            remedy=f"`fourtier dead-letters list {options}`; mend the cause, then "
            f"`fourtier dead-letters replay {options}`",
        )
    ]
