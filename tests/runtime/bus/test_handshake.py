"""What stands behind a bus URL is known before the client library tries it."""

import asyncio
import struct
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.bus.pulsar.handshake import handshake
from fourtier.runtime.errors import StartupError
from tests.runtime.rpc.support import Answering, listening, silent


def frame(command: bytes) -> bytes:
    return struct.pack(">II", len(command) + 4, len(command)) + command


def says(answer: bytes) -> Answering:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(24)
        writer.write(answer)

    return answering


CONNECTED = frame(b"\x08\x03\x1a\x0a\x0a\x06Pulsar\x10\x15")
#: BaseCommand of type ERROR: who does not say who he is does not get in.
REFUSED = frame(b"\x08\x08\x42\x0c\x08\x00\x10\x05\x1a\x06denied")


async def test_a_broker_says_what_it_is() -> None:
    async with listening(says(CONNECTED)) as place:
        assert await handshake(f"pulsar://{place}") == "Pulsar"
        assert await handshake(f"pulsar://{place}/") == "Pulsar"


async def test_a_broker_that_wants_a_token_first_is_a_broker() -> None:
    async with listening(says(REFUSED)) as place:
        assert await handshake(f"pulsar://{place}") == ""


async def test_one_of_several_brokers_is_enough() -> None:
    async with listening(says(CONNECTED)) as place:
        assert await handshake(f"pulsar://127.0.0.1:1,{place}") == "Pulsar"


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b"", frame(b"\xff\xff\xff")],
    ids=["http", "ssh", "nothing", "rubbish"],
)
async def test_what_is_no_broker_is_told_apart(answer: bytes) -> None:
    async with listening(says(answer)) as place:
        with pytest.raises(BusError, match=f"no bus can be reached at pulsar://{place}"):
            await handshake(f"pulsar://{place}")


async def test_a_failed_handshake_is_told_in_its_own_words() -> None:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"this is no TLS")

    async with listening(answering) as place:
        with pytest.raises(BusError, match="SSL"):
            await handshake(f"pulsar+ssl://{place}")


async def test_silence_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourtier.runtime.bus.pulsar.handshake._WITHIN", 0.05)

    async with listening(silent) as place:
        with pytest.raises(BusError, match=r"no answer within 0\.05 seconds"):
            await handshake(f"pulsar://{place}")


@pytest.mark.parametrize(
    "url",
    [
        "pulsar://127.0.0.1:1",
        "pulsar://127.0.0.1:port",
        "pulsar://no-such-host.invalid:6650",
        "pulsar://:6650",
        "pulsar://",
        "pulsar+ssl://127.0.0.1:1",
        "kafka://127.0.0.1:9092",
        "127.0.0.1:6650",
        "",
    ],
)
async def test_a_wrong_url_is_one_line_of_a_start_up_error(url: str, tmp_path: Path) -> None:
    with pytest.raises(StartupError) as raised:
        async with open_bus(BusConfig(url, "fourtier", "test", tmp_path)):
            pass

    assert repr(url).strip("'") in str(raised.value)
    assert "\n" not in str(raised.value)
