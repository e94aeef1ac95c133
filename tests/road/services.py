"""The services of the main road, as the laptop flow has them; the model only answers."""

from typing import Any

ROAD: dict[str, dict[str, Any]] = {
    "embeddings": {},
    "completion": {"attempts": 1},
    "facts": {},
    "episodes": {},
    "conversations": {},
    "archive": {},
    "memoriser": {"method": "rule"},
    "researcher": {},
    "working-memory": {},
    "extraction": {"method": "statements"},
    "promotion": {"method": "statements"},
    "agent": {},
}
