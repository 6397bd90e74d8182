"""A companion lives on while its log is divided, and its whole life verifies."""

from pathlib import Path

import pytest

from echoic.client.verify_log import verify
from replay.recording.decisions import DecisionRecord
from schemas.messages.controls import SegmentClosed
from schemas.values.subjects import partition_of
from streams.jetstream.segments import listed
from streams.log import messages
from tests.e2e.companion import companion
from tests.e2e.conftest import running_instance

pytestmark = pytest.mark.services

AGENTS = ("ada", "bob", "cleo")
LIFE = {
    "kept": "health is low",
    "4": "a wolf comes near",
    "2": "the bridge has collapsed",
    "1": "night falls over the forest",
}
"""What happens while the log has so many streams."""


async def test_a_companion_lives_on_over_segments(tmp_path: Path) -> None:
    """Its heuristic answers in each, an old decision takes a vote, all of it verifies."""
    decided: dict[str, DecisionRecord] = {}
    for number, (streams, happens) in enumerate(LIFE.items()):
        variables = {"ECHOIC_LOG_STREAMS": streams, "ECHOIC_PARTS": "worker"}
        async with running_instance(tmp_path, variables) as live:
            segments = await listed(live.client)
            assert len(segments.open) == (1 if streams == "kept" else int(streams))
            for agent in AGENTS:
                async with companion(live, agent) as one:
                    await one.taught(f"h{number}", happens, f"Mind it, {number}!")
                    if number:
                        assert await one.votes(decided[agent], "positive")
                    decided[agent] = await one.senses(happens)
                    assert (await one.hears())["text"] == f"Mind it, {number}!"
                    assert len(await one.inputs(SegmentClosed)) == 0
                partition = partition_of(agent)
                closed = messages(live.log, SegmentClosed, "_", partition=partition)
                assert len([each async for each in closed]) == number
            found = await verify(live.log, tmp_path, lambda count: None, full=True)
            assert found.is_sound, found
