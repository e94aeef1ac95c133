"""What the services answer to a status call, and how much their stores have."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from fourtier.operations.doctor.findings import Finding, checked, duration
from fourtier.operations.model_check import ask_output, ask_step, learns_by_model
from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.completion import COMPLETE
from fourtier.schema.embeddings import EMBED, EmbedRequest
from fourtier.schema.status import StatusRequest, StatusResponse, status_of

#: The model in the packages shows that everything works, and no more.
_BUNDLED = "SmolLM2-135M"
_A_REAL_ONE = "for real answers set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL"
#: Seconds that a model may take, as in a run.
_MODEL_WITHIN = COMPLETE.deadline


@dataclass
class ServiceAnswers:
    """What the services answered.

    Attributes:
        findings: a few lines for each service, in the flow's order.
        stores: the kinds of stores that a service could count, so that they can be reached.
    """

    findings: list[Finding] = field(default_factory=list)
    stores: set[str] = field(default_factory=set)


async def ask_services(
    caller: Caller,
    flow: str,
    services: Mapping[str, Mapping[str, Any] | None],
    replicas: Mapping[str, Sequence[str]],
) -> ServiceAnswers:
    """Ask all services at once.

    Args:
        caller: a connection to the flow.
        flow: its name, for the remedies.
        services: those of the flow, with their parameters.
        replicas: the versions of each service's replicas, as far as the bus knows them.
    """
    answers = ServiceAnswers()
    learns = learns_by_model(services)
    found = await asyncio.gather(
        *(
            _service(caller, flow, service, replicas.get(service, ()), answers, learns=learns)
            for service in services
        )
    )
    answers.findings += [finding for findings in found for finding in findings]
    return answers


async def _service(
    caller: Caller,
    flow: str,
    service: str,
    replicas: Sequence[str],
    answers: ServiceAnswers,
    *,
    learns: bool,
) -> list[Finding]:
    remedy = f"see whether {service} runs (`fourtier serve {flow} {service}`) and what its log says"
    findings = await checked(service, _status(caller, service, replicas, answers), remedy)
    if findings[0].well and service == "embeddings":
        what = "embedding model"
        findings += await checked(what, _embed(caller, what), _EMBEDDING, within=_MODEL_WITHIN)
    if findings[0].well and service == "completion":
        findings += await _model(caller, learns=learns)
    return findings


async def _model(caller: Caller, *, learns: bool) -> list[Finding]:
    """The model, asked what the agent asks; and what is learned by it, where it is a named one."""
    what = "language model"
    findings = await checked(what, _complete(caller, what), _COMPLETION, within=_MODEL_WITHIN)
    if learns and findings[0].well and findings[0].remedy != _A_REAL_ONE:
        what = "learning by the model"
        findings += await checked(what, _learn(caller, what), _LEARNING, within=_MODEL_WITHIN)
    return findings


async def _status(
    caller: Caller, service: str, replicas: Sequence[str], answers: ServiceAnswers
) -> list[Finding]:
    await caller.call(status_of(service), StatusRequest())  # the first one opens the topic as well
    began = time.perf_counter()
    status = await caller.call(status_of(service), StatusRequest())
    spent = (time.perf_counter() - began) * 1000
    answers.stores |= {each.store for each in status.store_counts}
    up = duration((datetime.now(UTC) - status.started_at).total_seconds())
    versions = Counter(replicas or [status.version])
    listed = ", ".join(f"{number} of {each or '?'}" for each, number in sorted(versions.items()))
    many = f"replicas: {listed}" if len(versions) > 1 else f"version {next(iter(versions))}"
    many += f", {len(replicas)} replicas" if len(versions) == 1 and len(replicas) > 1 else ""
    another = set(versions) != {version("fourtier")}
    status_line = Finding(
        what=service,
        well=True,
        found=f"answers in {spent:.1f} ms, {many}, up for {up}",
        remedy=f"not all is version {version('fourtier')}: finish the roll-out" if another else "",
    )
    return [status_line, *_store_counts(service, status)]


def _store_counts(service: str, status: StatusResponse) -> list[Finding]:
    """How much is in a service's stores."""
    what = f"stores of {service}"
    if status.store_problem:
        return [
            Finding(
                what=what,
                well=False,
                found=status.store_problem,
                remedy=f"see the lines of graph and vectors, and the log of {service}",
            )
        ]
    if not status.store_counts:
        return []
    found = ", ".join(
        f"{each.number:,} {each.kind} in the {each.store}" for each in status.store_counts
    )
    return [Finding(what=what, well=True, found=found, remedy=_difference(service, status))]


def _difference(service: str, status: StatusResponse) -> str:
    """The index follows the graph, so the numbers may differ while facts are written."""
    numbers = {each.number for each in status.store_counts}
    if service != "facts" or len(numbers) == 1:
        return ""
    return "if they still differ when nothing is written: `fourtier facts reindex`"


async def _embed(caller: Caller, what: str) -> list[Finding]:
    began = time.perf_counter()
    answered = await caller.call(EMBED, EmbedRequest(texts=("Is anybody there?",)))
    spent = (time.perf_counter() - began) * 1000
    dimensions = len(answered.vectors[0].floats())
    return [Finding(what=what, well=True, found=f"{dimensions} dimensions in {spent:.1f} ms")]


async def _complete(caller: Caller, what: str) -> list[Finding]:
    began = time.perf_counter()
    model = await ask_step(caller)
    spent = (time.perf_counter() - began) * 1000
    found = f"{model or 'a model without a name'} speaks, in {spent:.1f} ms"
    bundled = model.startswith(_BUNDLED)
    return [Finding(what=what, well=True, found=found, remedy=_A_REAL_ONE if bundled else "")]


async def _learn(caller: Caller, what: str) -> list[Finding]:
    await ask_output(caller)
    return [Finding(what=what, well=True, found="it writes JSON of a schema")]


_EMBEDDING = "see the parameters of embeddings in the flow, and its log"
_COMPLETION = "see OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL of completion, and its log"
_LEARNING = (
    "what is said is learned by rule, which finds less: name a model that writes JSON of a schema, "
    "by OPENAI_MODEL of completion"
)
