"""What `fourtier doctor` looks at."""

import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version

from pydantic import BaseModel

from fourtier.cli.connection import open_flow_bus
from fourtier.client import Client, client_on
from fourtier.flows.model import Flow, read_flow
from fourtier.runtime.bus.contract import Bus, BusError
from fourtier.runtime.dead_letters import list_dead_letters
from fourtier.runtime.errors import FourtierError, StartupError
from fourtier.runtime.settings import Settings, read_settings
from fourtier.schema.completion import COMPLETE, ChatMessage, CompleteRequest
from fourtier.schema.embeddings import EMBED, EmbedRequest
from fourtier.schema.message import Scope
from fourtier.schema.working_memory import GET_WORKING_MEMORY, GetWorkingMemoryRequest

#: A scope that nobody has, for questions that must find nothing.
_NOBODY = Scope("fourtier-doctor", "fourtier-doctor")


class Finding(BaseModel):
    """One line of the doctor's table."""

    what: str
    well: bool
    found: str
    remedy: str = ""


async def diagnose(flow: str) -> list[Finding]:
    """Look at a flow from the outside, as its clients do.

    Raises:
        FlowError: there is no such flow.
    """
    read = read_flow(flow)
    findings = [
        Finding(what="version", well=True, found=f"fourtier {version('fourtier')}"),
        _model(read_settings()),
    ]
    try:
        async with open_flow_bus(flow) as bus, client_on(bus) as client:
            findings.append(Finding(what="bus", well=True, found="reached"))
            findings += await _services(read, client)
            findings += [await _dead(bus, service) for service in read.services]
    except (StartupError, BusError) as error:
        findings.append(
            Finding(
                what="bus", well=False, found=str(error), remedy="start the flow, or its broker"
            )
        )
    return findings


def _model(settings: Settings) -> Finding:
    if settings.model_url or settings.model_key:
        name = settings.model_name or "the flow's model"
        return Finding(what="model", well=True, found=f"{name} at {settings.model_url or 'OpenAI'}")
    return Finding(
        what="model",
        well=True,
        found="the bundled SmolLM2-135M, which shows that everything works",
        remedy="for real answers set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL",
    )


async def _services(flow: Flow, client: Client) -> list[Finding]:
    """Ask each service that can be asked something that changes nothing."""
    probes: dict[str, Callable[[Client], Awaitable[object]]] = {
        "embeddings": _embed,
        "completion": _complete,
        "facts": lambda client: client.facts.list(_NOBODY, limit=1),
        "episodes": lambda client: client.episodes.list(_NOBODY, limit=1),
        "conversations": lambda client: client.conversations.list(_NOBODY, limit=1),
        "working-memory": _working_memory,
    }
    return [
        await _probe(name, probe(client)) for name, probe in probes.items() if name in flow.services
    ]


async def _probe(service: str, asked: Awaitable[object]) -> Finding:
    began = time.perf_counter()
    try:
        await asked
    except (FourtierError, BusError) as error:
        remedy = f"see the log of {service}, and whether it runs"
        return Finding(what=service, well=False, found=str(error), remedy=remedy)
    spent = (time.perf_counter() - began) * 1000
    return Finding(what=service, well=True, found=f"answers in {spent:.1f} ms")


async def _embed(client: Client) -> None:
    await client.caller.call(EMBED, EmbedRequest(texts=("Is anybody there?",)))


async def _complete(client: Client) -> None:
    request = CompleteRequest(
        messages=(ChatMessage(role="user", content="Say yes."),), max_tokens=8
    )
    async for _ in client.caller.stream(COMPLETE, request):
        pass


async def _working_memory(client: Client) -> None:
    await client.caller.call(
        GET_WORKING_MEMORY, GetWorkingMemoryRequest(user=_NOBODY.user, run_id="fourtier-doctor")
    )


async def _dead(bus: Bus, service: str) -> Finding:
    letters = await list_dead_letters(bus, service)
    return Finding(
        what=f"dead letters of {service}",
        well=not letters,
        found=f"{len(letters)}" + (f", oldest {letters[0].at:%Y-%m-%d %H:%M}" if letters else ""),
        remedy=f"fourtier dead-letters list --service {service}" if letters else "",
    )
