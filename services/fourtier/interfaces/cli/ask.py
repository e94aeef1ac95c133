"""What `fourtier ask` prints of a reply."""

from fourtier.client import Reply
from fourtier.interfaces.cli.memories import memories_text, newest_first
from fourtier.interfaces.cli.output import console, print_json, print_text


def show_reply(reply: Reply, *, as_json: bool) -> None:
    """Print the answer for people, or all of it as one JSON object."""
    if as_json:
        print_json(reply_as_json(reply))
    elif reply.error:
        print_text(f"No answer: {reply.reason}")
    else:
        print_text(reply.answer)
        console.print(memories_text(reply.metadata))


def reply_as_json(reply: Reply) -> dict[str, object]:
    """Answer, steps, memories by tier, tokens and timings."""
    metadata = reply.metadata.model_dump(mode="json")
    by_tier: dict[str, list[object]] = {
        "facts": [],
        "archive": [],
        "episodes": [],
        "conversation": [],
    }
    for memory in newest_first(reply.metadata.memories):
        by_tier.setdefault(memory.tier, []).append(memory.model_dump(mode="json"))
    error = {"type": reply.error, "message": reply.reason, "retry_after": reply.retry_after}
    return {
        "answer": reply.answer,
        "error": error if reply.error else None,
        "steps": metadata["steps"],
        "memories": by_tier,
        "tiers_left_out": metadata["tiers_left_out"],
        "research": metadata["research"],
        "redacted": metadata["redacted"],
        "memory": metadata["memory"],
        "opted_out": metadata["opted_out"],
        "tokens": {"in": reply.in_token, "out": reply.out_token},
        "model": reply.model,
        "timings_ms": metadata["timings_ms"],
        "run_id": metadata["run_id"],
        "trace_id": metadata["trace_id"],
    }
