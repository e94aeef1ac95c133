"""The tools of the agent under test: one may be used twice, the other must never be.

Each use leaves a line in the ledger, a file that outlives every process, with the process in which
the tool was used.
"""

import os
from pathlib import Path

from fourtier.tools import tool

#: Names the ledger in the environment of the agent's process.
LEDGER = "CHAOS_LEDGER"


def _note(use: str, invoice: str) -> None:
    """Add one line in one write, so that a process killed here leaves a whole line or none."""
    descriptor = os.open(os.environ[LEDGER], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, f"{use} {invoice} {os.getpid()}\n".encode())
    finally:
        os.close(descriptor)


@tool(idempotent=True)
def look_up(invoice: str) -> str:
    """Say how much an invoice is about."""
    _note("look_up", invoice)
    return f"The invoice {invoice} is about 12 euros."


@tool(idempotent=False)
def pay(invoice: str) -> str:
    """Pay an invoice."""
    _note("pay", invoice)
    return f"The invoice {invoice} was paid."


def offer_tools(directory: Path) -> Path:
    """Make these tools the entry points of a package in `directory`; that goes onto PYTHONPATH."""
    offered = directory / "offered"
    package = offered / "chaos_tools-0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: chaos-tools\nVersion: 0\n")
    (package / "entry_points.txt").write_text(
        "[fourtier.tools]\nlook_up = tests.chaos.tools:look_up\npay = tests.chaos.tools:pay\n"
    )
    return offered


def uses(ledger: Path, of: str) -> list[str]:
    """The invoices for which a tool was used, in that order."""
    return [invoice for use, invoice, _ in _lines(ledger) if use == of]


def users(ledger: Path, of: str) -> dict[str, int]:
    """Invoices, each with the process that used a tool for it last."""
    return {invoice: int(pid) for use, invoice, pid in _lines(ledger) if use == of}


def _lines(ledger: Path) -> list[list[str]]:
    lines = ledger.read_text("utf-8").splitlines() if ledger.exists() else []
    return [line.split() for line in lines]
