"""What users say to an assistant in the histories of LongMemEval."""

import json
from pathlib import Path


def said_by_user(history: Path) -> list[list[str]]:
    """The user's turns of a file of `cases`, session by session."""
    sessions = json.loads(history.read_text("utf-8"))["sessions"]
    return [
        [
            turn["content"]
            for turn in session.get("turns") or session.get("messages") or session["documents"]
            if turn["role"] == "user"
        ]
        for session in sessions
    ]
