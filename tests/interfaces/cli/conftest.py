"""The command, for the tests of this folder."""

import pytest

from tests.interfaces.cli.support import Command


@pytest.fixture
def fourtier(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)
