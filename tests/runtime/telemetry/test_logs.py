"""Logs: sentences, or JSON with fields; other libraries are quiet."""

import json
import logging
from collections.abc import Generator
from typing import Any

import pytest
import stamina
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

from fourtier.runtime import telemetry
from fourtier.runtime.errors import StartupError
from fourtier.runtime.telemetry.logs import set_up_logs

log = logging.getLogger("fourtier.test")


@pytest.fixture(autouse=True)
def loggers_as_before() -> Generator[None]:
    root, own = logging.getLogger(), logging.getLogger("fourtier")
    before = root.handlers[:], root.level, own.level
    yield
    root.handlers[:], root.level, own.level = before
    root.setLevel(before[1])
    own.setLevel(before[2])


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_text_is_a_sentence_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "text")
    log.info("The flow %s is up.", "laptop")
    log.debug("Nobody reads this.")

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" I The flow laptop is up.")
    assert len(line.split()[0]) == len("12:34:56")


def test_json_has_the_fields_of_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("DEBUG", "json")
    log.warning("Größe: %d", 5, extra={"service": "facts", "level": "mine", "where": log})

    (line,) = lines(capsys)
    assert line["message"] == "Größe: 5"
    assert line["level"] == "WARNING"
    assert line["logger"] == "fourtier.test"
    assert line["service"] == "facts"
    assert "fourtier.test" in line["where"]
    assert line["time"].endswith("+00:00")
    assert "trace_id" not in line


def test_json_keeps_an_exception_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "json")
    log.error("It failed.", exc_info=ValueError("two\nlines"))

    (line,) = lines(capsys)
    assert line["message"] == "It failed."
    assert "ValueError: two\nlines" in line["exception"]


def test_json_names_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "json")
    with telemetry.reporting_to(TracerProvider(), MeterProvider()), telemetry.step("think"):
        trace = telemetry.trace_id()
        log.info("Thinking.")

    (line,) = lines(capsys)
    assert line["trace_id"] == trace
    assert len(trace) == 32


def test_others_are_heard_only_when_something_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    set_up_logs("DEBUG", "text")
    for name in ("aiohttp.access", "asyncio", "neo4j"):
        logging.getLogger(name).info("chatter")
    logging.getLogger("neo4j").warning("trouble")

    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("W trouble")


async def test_a_retry_is_not_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "text")
    with stamina.set_testing(True, attempts=2):
        async for attempt in stamina.retry_context(on=ValueError):
            with attempt:
                if attempt.num == 1:
                    raise ValueError

    assert capsys.readouterr().err == ""


def test_a_second_set_up_takes_the_place_of_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "text")
    set_up_logs("INFO", "json")
    log.info("Once.")

    assert len(lines(capsys)) == 1


def test_a_level_that_is_none_is_one_line() -> None:
    with pytest.raises(StartupError, match=r"^there is no log level 'loud'.*FOURTIER_LOG_LEVEL"):
        set_up_logs("loud", "text")
