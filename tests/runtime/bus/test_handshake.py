"""What stands behind a bus URL is known before the client library tries it."""

import asyncio
import struct
from pathlib import Path

import pytest

from fourtier.runtime.bus.contract import BusError
from fourtier.runtime.bus.opening import BusConfig, open_bus
from fourtier.runtime.bus.pulsar.frames import connect_frame, error_frame
from fourtier.runtime.bus.pulsar.handshake import handshake
from fourtier.runtime.errors import StartupError
from tests.runtime.rpc.support import Answering, listening, no_answer


def says(answer: bytes) -> Answering:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(connect_frame(None)))
        writer.write(answer)

    return answering


#: As Pulsar writes it: type 3, then `connected` with a name and a protocol version.
CONNECTED = b"\x00\x00\x00\x12\x00\x00\x00\x0e\x08\x03\x1a\x0a\x0a\x06Pulsar\x10\x15"


async def test_a_broker_says_what_it_is() -> None:
    async with listening(says(CONNECTED)) as address:
        assert await handshake(f"pulsar://{address}") == "Pulsar"
        assert await handshake(f"pulsar://{address}/") == "Pulsar"


@pytest.mark.parametrize(
    ("token", "expected"), [(None, "wants a token"), ("x", "rejects the token")]
)
async def test_a_broker_that_does_not_let_us_in_is_an_error_at_once(
    token: str | None, expected: str
) -> None:
    async with listening(says(error_frame("denied"))) as address:
        with pytest.raises(BusError, match=rf"{expected} \(denied\): set FOURTIER_BUS_TOKEN"):
            await handshake(f"pulsar://{address}", token=token)


async def test_one_of_several_brokers_is_enough() -> None:
    async with listening(says(CONNECTED)) as address:
        assert await handshake(f"pulsar://127.0.0.1:1,{address}") == "Pulsar"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"",
        struct.pack(">II", 7, 3) + b"\xff\xff\xff",
    ],
    ids=["http", "ssh", "nothing", "rubbish"],
)
async def test_what_is_not_a_broker_is_an_error(answer: bytes) -> None:
    async with listening(says(answer)) as address:
        with pytest.raises(BusError, match=f"no bus can be reached at pulsar://{address}"):
            await handshake(f"pulsar://{address}")


async def test_a_failed_tls_handshake_is_reported_in_its_own_words() -> None:
    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"this is not TLS")

    async with listening(answering) as address:
        with pytest.raises(BusError, match="SSL"):
            await handshake(f"pulsar+ssl://{address}")


async def test_a_broker_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourtier.runtime.bus.pulsar.handshake._WITHIN", 0.05)

    async with listening(no_answer) as address:
        with pytest.raises(BusError, match=r"no answer within 0\.05 seconds"):
            await handshake(f"pulsar://{address}")


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
