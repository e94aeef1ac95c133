"""`fourtier ask`: one question, its answer and what it was made from."""

import json

from rich.console import Console

from fourtier.client import Client, Reply
from fourtier.interfaces.cli.chat import memories_text, newest_first
from fourtier.schema.message import Scope


async def ask_once(
    client: Client,
    question: str,
    scope: Scope,
    conversation_id: str,
    *,
    memory: bool,
) -> Reply:
    """Ask and wait for the last reply."""
    return await client.answer(
        question,
        user=scope.user,
        collection=scope.collection,
        conversation_id=conversation_id,
        enable_memory=memory,
    )


def show_reply(reply: Reply, console: Console, *, as_json: bool) -> None:
    """Print the answer for people, or all of it as one JSON object."""
    if as_json:
        print(json.dumps(reply_as_json(reply), ensure_ascii=False, indent=2))  # noqa: T201 - for pipes, unwrapped
    elif reply.error:
        console.print(f"No answer: {reply.reason}", markup=False)
    else:
        console.print(reply.answer, markup=False, highlight=False)
        console.print(memories_text(reply.metadata), highlight=False)


def reply_as_json(reply: Reply) -> dict[str, object]:
    """Answer, steps, memories by tier, tokens and timings."""
    metadata = reply.metadata.model_dump(mode="json")
    by_tier: dict[str, list[object]] = {"facts": [], "episodes": [], "conversation": []}
    for memory in newest_first(reply.metadata.memories):
        by_tier.setdefault(memory.tier, []).append(memory.model_dump(mode="json"))
    return {
        "answer": reply.answer,
        "error": {"type": reply.error, "message": reply.reason} if reply.error else None,
        "steps": metadata["steps"],
        "memories": by_tier,
        "tiers_left_out": metadata["tiers_left_out"],
        "tokens": {"in": reply.in_token, "out": reply.out_token},
        "model": reply.model,
        "timings_ms": metadata["timings_ms"],
        "run_id": metadata["run_id"],
        "trace_id": metadata["trace_id"],
    }
