"""What goes on until it is ended says that it lives."""

import asyncio

import pytest

from echoic.cli.shadow import Pulse
from tests.patience import PATIENCE_S


async def test_it_tells_how_it_stands_though_nothing_happens(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Again and again while it is open, and never after."""
    asked = asyncio.Event()
    count = 0

    def told() -> str:
        nonlocal count
        count += 1
        if count == 3:
            asked.set()
        return f"{count} decisions, still there"

    async with Pulse(told, every_s=0.001):
        await asyncio.wait_for(asked.wait(), PATIENCE_S)
    after = count

    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [f"{n} decisions, still there" for n in (1, 2, 3)]
    assert count == after
