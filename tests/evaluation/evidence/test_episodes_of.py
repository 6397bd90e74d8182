"""Episodes of a recording: all of them, as the character remembered each at its end."""

import dataclasses

import pytest
from msgspec.structs import replace

from evaluation.evidence.episodes_of import episodes_of
from evaluation.evidence.gather import UnprovenError
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.characters.autonomous import holdout
from schemas.messages.decisions import Decided
from schemas.messages.learning import CharacterChange
from schemas.state import limits
from schemas.state.autonomy import Autonomy
from tests.handlers.mind.characters.autonomous.cafe import body, cafe, due, report
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario, one


def lived(decisions: int) -> Scenario:
    """One that acts by chance: who wanders meets obstacles, all else works."""
    scenario = Scenario(cafe(tier=2, improvement={}), agent="golem")
    body(scenario)
    for _ in range(decisions):
        turn = due(scenario)
        while turn is not None:
            action = one(turn, Decided).action
            if action is None:
                break
            is_lost = action.type == "MoveToLocation"
            turn = report(scenario, turn, "failed" if is_lost else "succeeded", "Wall.")
    return scenario


async def test_all_episodes_are_found_and_speak_for_other_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More than the state keeps; with the odds they were drawn by."""
    monkeypatch.setattr(limits, "EPISODES", 20)
    scenario = lived(60)
    recording = recording_of_scenario(scenario)
    provider = AidProvider(WordsEmbedder(), PackLibrary(recording.log, WordsEmbedder()))

    found = await episodes_of(recording, provider)

    assert found.how is not None
    assert len(found.acts) > len(scenario.mind.character.autonomy.acts) == 20
    assert found.acts[-1] == scenario.mind.character.autonomy.acts[-1]
    assert all(each.outcome is not None for each in found.acts)
    less = CharacterChange(kind="weight", name="wander", before=0.4, after=0.05)
    judged = holdout.judge(less, found.acts, found.how, Autonomy())
    assert judged.verdict == "holds"
    assert judged.actions > 20
    assert judged.now is not None
    assert judged.then is not None
    assert judged.then > judged.now + 0.1
    # Told to who proposed it, they all fall silent.
    span = {"since": found.acts[0].at, "until": found.acts[-1].at}
    told = replace(less, **span)
    assert holdout.judge(told, found.acts, found.how, Autonomy()).verdict == "unknown"


async def test_a_recording_that_does_not_agree_with_itself_says_nothing() -> None:
    """It raises."""
    recording = dataclasses.replace(recording_of_scenario(lived(3)), chain="other")
    provider = AidProvider(WordsEmbedder(), PackLibrary(recording.log, WordsEmbedder()))
    with pytest.raises(UnprovenError):
        await episodes_of(recording, provider)
