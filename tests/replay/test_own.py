"""Own state: a strategy lives through a recording with its own consequences."""

import pytest

from handlers.aids import Bringer, PackLibrary
from replay.own import Answers, Ending, OwnState
from replay.own_decision import OwnDecision
from replay.sources import Recording, of_file
from schemas.settings import StrategySpec
from tests.minds import the_embedder
from tests.replay.lives import everything, recording_of
from tests.replay.recording import evening
from tests.replay.test_logged import replayed

STRICT = Answers(mode="strict")


async def lived(
    recording: Recording, strategy: StrategySpec | None, **how: object
) -> tuple[list[OwnDecision], Ending]:
    bringer = Bringer(the_embedder(), PackLibrary(recording.log, the_embedder()))
    life = OwnState(recording, strategy, bringer, **how)  # type: ignore[arg-type]
    decisions = [each async for each in life.decisions()]
    return decisions, life.ending


@pytest.mark.parametrize("name", ["everything", "evening"])
async def test_the_own_strategy_lives_the_recorded_life(name):
    """A life by the recorded strategy takes every arm and says every word again."""
    recording = (
        recording_of(everything())
        if name == "everything"
        else of_file(evening(), "evening")
    )
    found, ending = await lived(recording, None, answers=STRICT)
    recorded = await replayed(recording)

    assert [each.recorded_id for each in found] == [
        each.decision_id for each in recorded
    ]
    for own, past in zip(found, recorded, strict=True):
        assert (own.arm, own.path, own.silence) == (past.arm, past.path, past.silence)
        assert (own.said, own.dropped) == (past.said, past.dropped), past
        assert own.is_recorded_arm
        assert not own.is_unknown
    assert ending.misses == 0
    assert set(ending.left_out) <= {"ClockTicked", "ModelAnswered", "ModelFailed"}
