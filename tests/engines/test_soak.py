"""A graph that is written, read and killed at any moment: no confirmed row changes."""

import asyncio
import random
import sys
from pathlib import Path

import pytest

#: Of `random`, and of all transactions; another one for another soak.
SEED = random.SystemRandom().randrange(2**32)
KILLS = 25
#: Transactions before a kill, at most; each log is full after about 60.
_MOST = 400
_ENDLESS = 1_000_000


async def soak(file: Path, confirmed: int, most: int, *, kill: bool) -> int:
    """Let a process write, and maybe kill it; how many transactions are confirmed then."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engines.soaking", str(file), str(SEED), str(confirmed)),
        str(_ENDLESS if kill else most),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    lines = [await process.stdout.readline() for _ in range(most if kill else 0)]
    if all(lines) and kill:
        process.kill()
    rest, errors = await process.communicate()
    assert process.returncode == (-9 if kill else 0), errors.decode()
    # The last line may be cut short; the store may have that transaction nevertheless.
    said = (b"".join(lines) + rest).rpartition(b"\n")[0].split()
    return int(said[-1])


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.flaky(reruns=0)
async def test_no_confirmed_row_is_lost_or_changed(tmp_path: Path) -> None:
    print(f"seed {SEED}")  # noqa: T201 - to repeat it
    chance, file, confirmed = random.Random(SEED), tmp_path / "graph.lbug", 0  # noqa: S311
    for _ in range(KILLS):
        confirmed = await soak(file, confirmed, chance.randint(1, _MOST), kill=True)
    for _ in range(2):
        confirmed = await soak(file, confirmed, 1, kill=False)
