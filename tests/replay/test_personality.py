"""Personalities in replays: the same bytes again, and another one asked instead."""

from typing import Any

import pytest

from echoic.packs.personalities import shipped
from handlers.aids import AidProvider, PackLibrary
from replay.closed_loop.run import Answers
from replay.open_loop.asked import ask_open_loop
from replay.recording.in_force import UnknownTemplateError
from replay.recording.sessions import start_of
from replay.verify import Span, Verification, verify
from schemas.codec import checkpoint
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    TraitAdjusted,
)
from schemas.messages.experiments import Variant
from schemas.values.settings import StrategySpec
from streams.session_files.memory_log import SessionLog
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.replay.closed_loop.test_run import run_again
from tests.replay.open_loop.test_asked import (
    check_contexts,
    check_own_odds,
    overhearing,
)
from tests.replay.scenarios import (
    WordsEmbedder,
    file_of_scenario,
    recording_of_scenario,
)
from tests.scenario import Scenario, said

GARDEN = pack(
    heuristic("dusk", "dusk falls", "Go home.", confidence=0.7),
    personalities=[{"name": "gnome", "traits": {"verbosity": 0.05}}],
)
BUTLER = Variant(template="butler")


def beginning(template: str = "") -> Scenario:
    """A scenario in which a model is asked unless something learnt is trusted."""
    executive = plain_executive(templates=shipped(), template=template)
    return Scenario(
        GARDEN,
        executive=executive,
        relevance=0.0,
        model=factories.MODEL,
        strategy=StrategySpec(name="heuristic_first"),
    )


def lived(template: str = "", *, has_choices: bool = True) -> Scenario:
    """A scenario in which all that moves traits happens; unless `has_choices` by itself."""
    scenario = beginning(template)
    choices: list[Any] = [
        ContextSwitched(context="work", by="ann"),
        PersonalitySelected(template=f"{GARDEN.pack.name}/gnome"),
        TraitAdjusted(trait="sarcasm", by_amount=0.4, for_s=500.0),
        TraitAdjusted(trait="humor", by_amount=-0.2, person="ann"),
        PersonalitySelected(template="coach"),
        PersonalitySelected(template="none"),
    ]
    for number in range(24):
        if has_choices and number % 4 == 3:
            scenario.control(choices[number // 4])
        hints: dict[str, Any] = {"salience": {"threat": 0.9}} if number % 5 == 0 else {}
        told = scenario.sense(
            "dusk falls" if number % 3 else "a fox",
            person="ann" if number % 2 else None,
            sentiment=(number % 7 - 3) / 3,
            **hints,
        )
        scenario.feedback(told, "negative" if number % 4 else "positive", actor="ann")
        scenario.wait(100)
    return scenario


def voices(scenario: Scenario) -> list[Decided]:
    """Its decisions."""
    return [each for turn in scenario.turns for each in said(turn, Decided)]


async def test_a_replay_repeats_every_voice() -> None:
    """Every byte again, with all that may move the traits."""
    scenario = lived("jester")
    found = await _verified(scenario)

    assert found.is_identical, found.divergence
    templates = {each.voice.template for each in voices(scenario) if each.voice}
    assert templates == {"jester", f"{GARDEN.pack.name}/gnome", "coach", None}
    digests = {each.voice.digest for each in voices(scenario) if each.voice}
    assert len(digests) > 5


async def test_the_open_loop_knows_as_whom_a_model_was_asked() -> None:
    """Each arm of a model is rebuilt with the voice that was recorded."""
    with overhearing() as heard:
        scenario = lived("jester")
    recording = recording_of_scenario(scenario)
    found = [each async for each in ask_open_loop(recording, (None,))]

    assert len({context.llm_arm for context in heard.values()}) > 5
    check_contexts(found, heard)
    check_own_odds(found)


async def test_another_personality_is_asked_about_recorded_decisions() -> None:
    """Its arms and thresholds are those of a run that had it from the beginning."""
    recording = recording_of_scenario(lived("jester", has_choices=False))
    found = [each async for each in ask_open_loop(recording, (BUTLER,))]
    truly = {each.event_id: each for each in voices(lived("butler", has_choices=False))}

    for each in found:
        (odds,), own = each.odds, truly[each.decided.event_id]
        assert odds.greedy == own.greedy_arm
        thresholds = [gate.threshold for gate in odds.gates]
        recorded = [gate.threshold for gate in own.gates if gate.name == "confidence"]
        assert thresholds == recorded


async def test_a_run_by_another_personality_has_it_throughout() -> None:
    """Whatever the recording selected."""
    answers = Answers(mode="stub", stub="Very good.")
    runs, _ = await run_again(lived("jester"), BUTLER, answers=answers)

    assert len(runs) == 24
    for each in runs:
        assert each.record.decided.voice is not None
        assert each.record.decided.voice.template == "butler"


async def test_an_unknown_personality_is_refused_by_name() -> None:
    """With those that there are."""
    asking = ask_open_loop(recording_of_scenario(lived()), (Variant(template="x"),))
    with pytest.raises(UnknownTemplateError, match="there are butler"):
        _ = [each async for each in asking]


def test_a_state_keeps_what_moves_the_traits() -> None:
    """A checkpoint loads to the same state, and goes on the same."""
    scenario = lived("jester")
    again = Scenario(GARDEN, state=checkpoint.load(checkpoint.dump(scenario.state)))

    assert again.mind.executive == scenario.mind.executive
    personality = scenario.mind.executive.personality
    assert personality.mood is not None
    assert personality.threat is not None
    assert len(personality.failures) == 0


async def _verified(scenario: Scenario) -> Verification:
    session, made = file_of_scenario(scenario), WordsEmbedder()
    log, header = SessionLog(session), session.header
    return await verify(
        log,
        Span(header.partition, header.first - 1, header.last, header.agent),
        AidProvider(made, PackLibrary(log, made)),
        start=start_of(session),
        expected_chain=session.trailer.chain,
    )
