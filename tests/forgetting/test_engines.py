"""Embedded engines: what was deleted is in no byte of their files, and the rest is all there."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.forgetting import stores
from tests.forgetting.bytes import canary, find
from tests.forgetting.stores import AT_ONCE, ON_DEMAND, opened
from tests.support.waiting import wait_until

pytestmark = pytest.mark.parametrize("engine", ["vectors", "graph"])
STRANGE = [
    "",
    "line\nline\ttab\r\n",
    "\"quoted\" 'text' \\n \\",
    "ключ 鍵 🦊",
    "NULL",
    "x" * 100_000,
]


def manifest(directory: Path) -> dict[str, object]:
    (file,) = directory.glob("manifest-*.json")
    content: dict[str, object] = json.loads(file.read_text(encoding="utf-8"))
    return content


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


async def test_what_was_deleted_is_in_no_byte_and_the_rest_is_there(
    engine: str, tmp_path: Path
) -> None:
    gone = [canary() for _ in range(20)]
    rest = {f"stays {number}": text for number, text in enumerate(STRANGE)}
    async with opened(engine, tmp_path, ON_DEMAND) as texts:
        await texts.write({word: f"The {word} is hidden. " * 9 for word in gone} | rest)
        assert {each.canary for each in find(tmp_path, gone)} == set(gone)
        await texts.delete(gone)
        assert find(tmp_path, gone), "a scan that finds nothing before proves nothing"

        assert await texts.erase() == ()

        assert find(tmp_path, gone) == []
        assert await texts.read() == rest
        await texts.write({"later": "and so on"})
        assert await texts.read() == rest | {"later": "and so on"}
    async with opened(engine, tmp_path) as texts:
        assert await texts.read() == rest | {"later": "and so on"}
    assert find(tmp_path, gone) == []


async def test_closing_a_store_erases(engine: str, tmp_path: Path) -> None:
    word = canary()
    async with opened(engine, tmp_path, ON_DEMAND) as texts:
        await texts.write({"gone": word, "stays": "yes"})
        await texts.delete(["gone"])
        assert find(tmp_path, [word])
        assert manifest(tmp_path)["erasure_due"] is True

    assert find(tmp_path, [word]) == []
    assert manifest(tmp_path)["erasure_due"] is False
    async with opened(engine, tmp_path) as texts:
        assert await texts.read() == {"stays": "yes"}


async def test_a_store_at_rest_erases_by_itself(engine: str, tmp_path: Path) -> None:
    word = canary()
    async with opened(engine, tmp_path, AT_ONCE) as texts:
        await texts.write({"gone": word, "stays": "yes"})
        await texts.delete(["gone"])
        await wait_until(lambda: manifest(tmp_path)["erasure_due"] is False)
        assert find(tmp_path, [word]) == []
        assert await texts.read() == {"stays": "yes"}


async def test_a_replaced_text_is_erased_on_demand(engine: str, tmp_path: Path) -> None:
    word = canary()
    async with opened(engine, tmp_path, ON_DEMAND) as texts:
        await texts.write({"one": word})
        await texts.erase()
        await texts.replace("one", "")
        assert find(tmp_path, [word])
        await texts.erase()
        assert find(tmp_path, [word]) == []
        assert await texts.read() == {"one": ""}


async def test_a_store_that_nobody_wrote_to_is_not_rewritten(engine: str, tmp_path: Path) -> None:
    def files() -> set[int]:
        return {path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}

    async with opened(engine, tmp_path, ON_DEMAND) as texts:
        await texts.write({"one": "text", "two": "text"})
        await texts.delete(["two"])
        await texts.erase()
        before = files()
        await texts.erase()
        assert files() == before


async def test_writes_and_reads_go_on_while_it_erases(engine: str, tmp_path: Path) -> None:
    words = [canary() for _ in range(30)]
    async with opened(engine, tmp_path, ON_DEMAND) as texts:
        await texts.write({f"first {number}": f"text {number}" for number in range(1_000)})
        erasing = [asyncio.create_task(texts.erase())]
        for number, word in enumerate(words):
            await texts.write({word: word, f"stays {number}": "yes"})
            await texts.delete([word])
            await texts.delete([f"first {number}"])
            assert len(await texts.read()) == 1_000
            erasing.append(asyncio.create_task(texts.erase()))
        await asyncio.gather(*erasing)
        expected = {f"first {number}" for number in range(30, 1_000)}
        assert set(await texts.read()) == expected | {f"stays {number}" for number in range(30)}
    assert find(tmp_path, words) == []
    async with opened(engine, tmp_path) as texts:
        assert set(await texts.read()) == expected | {f"stays {number}" for number in range(30)}


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 3, 6])
async def test_kill_9_while_it_erases_loses_nothing_and_the_next_start_erases(
    engine: str, tmp_path: Path, after: int
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", stores.__name__, engine, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    lines = [await process.stdout.readline() for _ in range(after)]
    await asyncio.sleep(0.01 * after)  # into the middle of a rewriting, at another point each time
    process.kill()
    rest, _ = await process.communicate()
    stay = (b"".join(lines) + rest).rpartition(b"\n")[0].decode().split()

    async with opened(engine, tmp_path, ON_DEMAND) as texts:
        found = await texts.read()
        assert set(stay) <= found.keys()
        assert all(found[name] == f"text {name}" for name in stay)
        last = int(stay[-1].removeprefix("t"))
        gone = [f"t{number}" for number in range(0, last, 3)]
        assert not found.keys() & set(gone)
    assert not {"graph.lbug.rewritten", "shard.rewritten", "shard.replaced"} & names(tmp_path)
    assert manifest(tmp_path)["erasure_due"] is False
