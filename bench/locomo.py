"""LoCoMo: turn a conversation into lines for `fourtier import`, and see what questions find.

    python bench/locomo.py convert --sample 0 > locomo.jsonl
    fourtier import locomo.jsonl
    python bench/locomo.py ask --sample 0 --questions 10

Reads ../shared/data/locomo/locomo_dev.json (CC BY-NC 4.0; it is not part of this project).
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fourtier.client import Client
from fourtier.operations.connection import open_client
from fourtier.schema.message import Scope

DATA = Path(__file__).parent.parent.parent / "shared/data/locomo/locomo_dev.json"
#: Adversarial questions have no answer in the dialogue, so nothing can be found for them.
ADVERSARIAL = 5


def samples() -> list[dict[str, Any]]:
    """All samples; ends the program where the data is not there."""
    if not DATA.is_file():
        sys.exit(f"skipped: {DATA} is not there")
    content: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))
    return content


def lines(sample: dict[str, Any], name: str) -> Iterator[dict[str, str]]:
    """One line for each turn; turns of a session follow each other by a minute."""
    conversation = sample["conversation"]
    number = 1
    while f"session_{number}" in conversation:
        began = datetime.strptime(
            conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y"
        ).replace(tzinfo=UTC)
        for index, turn in enumerate(conversation[f"session_{number}"]):
            caption = (
                f" [shares a picture: {turn['blip_caption']}]" if "blip_caption" in turn else ""
            )
            yield {
                "conversation_id": f"{name}-session-{number}",
                "user": name,
                "speaker": turn["speaker"],
                "timestamp": (began + timedelta(minutes=index)).isoformat(),
                "content": turn["text"] + caption,
                "turn_id": f"{name}-{turn['dia_id']}",
            }
        number += 1


async def evidence_found(client: Client, name: str, question: dict[str, Any]) -> list[str]:
    """Which of a question's evidence turns were among the memories that the answer used."""
    scope = Scope(name, "default")
    reply = await client.answer(question["question"], user=name)
    used: set[str] = set()
    for memory in reply.metadata.memories:
        fact = await client.facts.get(scope, memory.id) if memory.tier == "facts" else None
        if fact is not None:
            used.add(str(fact.metadata.get("turn_id", "")))
    print(f"Q: {question['question']}\n   gold: {question.get('answer')}\n   said: {reply.answer}")
    for memory in reply.metadata.memories:
        print(f"   used: {memory.content}")
    return [dia for dia in question["evidence"] if f"{name}-{dia}" in used]


async def ask(sample: dict[str, Any], name: str, number: int) -> None:
    """Ask questions of every category in turn and count those whose evidence was used."""
    questions = [q for q in sample["qa"] if q["category"] != ADVERSARIAL and q.get("evidence")]
    chosen = questions[:: max(1, len(questions) // number)][:number]
    found_any = found_all = 0
    async with open_client("laptop") as client:
        for question in chosen:
            found = await evidence_found(client, name, question)
            found_any += bool(found)
            found_all += len(found) == len(question["evidence"])
            print(f"   evidence: {question['evidence']}, among the memories used: {found}\n")
    print(f"questions {len(chosen)}, some evidence used {found_any}, all evidence used {found_all}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["convert", "ask"])
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--questions", type=int, default=10)
    arguments = parser.parse_args()
    sample = samples()[arguments.sample]
    name = f"locomo-{arguments.sample}"
    if arguments.command == "convert":
        for line in lines(sample, name):
            print(json.dumps(line, ensure_ascii=False))
    else:
        asyncio.run(ask(sample, name, arguments.questions))


if __name__ == "__main__":
    main()
