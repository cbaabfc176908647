"""The benchmark of the collector runs, and what it says was acknowledged is in the store."""

import pytest

from benchmarks import collect_serve

pytestmark = pytest.mark.slow


def test_a_short_run(capsys: pytest.CaptureFixture[str]) -> None:
    """A few hundred answers over a few connections are all acknowledged, and all stored once."""
    figures = collect_serve.main(["--answers", "300", "--seconds", "60", "--connections", "8"])
    assert figures["acknowledged"] == figures["stored"] == 300
    assert "a second" in capsys.readouterr().out
