"""Learnt silence in recordings: it repeats, is weighed again, and is no guess of .5."""

from typing import Any

from evaluation.evidence.gather import gather
from evaluation.learning import summary as reporting
from evaluation.learning.credit_audit import audit
from evaluation.learning.history import learning_history
from handlers.aids import AidProvider, PackLibrary
from replay.open_loop.asked import ask_open_loop
from replay.recording.outcomes import Ledger, OutcomeSettings
from replay.recording.source import Recording
from replay.verify import Span, verify
from schemas.messages.arms import SILENT
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import HeuristicFired
from schemas.messages.sensing import Sensed
from schemas.values.settings import StrategySpec
from tests import factories
from tests.factories import heuristic, pack
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario, said

GARDEN = pack(
    heuristic("low", "food is low", "Eat now.", 0.8, when="value <= 5"),
    types=("vital", "thing"),
)


def silence_learnt() -> Scenario:
    """A scenario that learns to keep silent, is praised once, and judged on a silence."""
    scenario = Scenario(
        GARDEN, model=factories.MODEL, relevance=0.0, silence=0.3, seed="q"
    )
    kept: list[Any] = []
    for number in range(40):
        turn = scenario.wait(600).sense("food is restored", fields={"value": 8})
        if said(turn, HeuristicFired):
            kept.append(turn)
            continue
        assert said(turn, ModelAsked)
        scenario.wait(1).answer_model(turn, "Have a look around.")
        if number == 3:
            scenario.feedback(turn, "positive")
        else:
            scenario.feedback(turn, "negative", aspect="condition")
    scenario.feedback(kept[-1], "negative")
    assert len(kept) > 3
    return scenario


def recorded(scenario: Scenario) -> Recording:
    """The scenario as a recording."""
    return recording_of_scenario(scenario)


async def test_it_repeats_to_the_byte() -> None:
    """The occasions and what was learnt of them are in the fold."""
    recording = recorded(silence_learnt())
    span = Span(recording.partition, recording.first - 1, recording.last)
    made_by = WordsEmbedder()
    bringer = AidProvider(made_by, PackLibrary(recording.log, made_by))

    replayed = await verify(recording.log, span, bringer, start=recording.start)

    assert replayed.is_identical, replayed.divergence


async def test_its_confidences_are_proved_and_its_credit_is_sound() -> None:
    """The recorded facts make them; no rule of credit is broken; it is reported."""
    recording = recorded(silence_learnt())
    # What precedes the first settings is a part of its own.
    *_, evidence = await gather(recording)
    found = await audit(recording)
    report = reporting.report([await reporting.read(recording)])
    kinds = {move.cause.kind for move in (await learning_history(recording)).moves}

    assert evidence.facts
    assert (found.faults, found.credits > 10) == ((), True)
    assert (report.formed, report.silences, report.kept > 3) == (0, 1, True)
    assert {"silence", "kept", "formed"} <= kinds


async def test_other_strategies_weigh_it_as_the_mind_did() -> None:
    """Its own strategy gives the recorded odds; one that only asks, asks."""
    recording = recorded(silence_learnt())
    own, asks = None, StrategySpec(name="always_llm")
    decisions = [each async for each in ask_open_loop(recording, (own, asks))]
    kept = [each for each in decisions if each.decided.silence == "learned_silence"]

    assert kept
    for each in decisions:
        assert dict(each.odds[0].arms) == {
            arm: odds for arm, odds in each.logging.items() if odds
        }
        assert each.odds[1].greedy.startswith("llm:")
    for each in kept:
        kept_arm = each.decided.arm, each.decided.probability, each.decided.greedy_arm
        assert kept_arm == (SILENT, 0.7, SILENT)


def test_a_silence_that_nobody_judged_is_unknown() -> None:
    """Other silence has the value that the settings state."""
    ledger = Ledger(OutcomeSettings())
    event = Sensed(source="game", type="vital", text="food is restored")
    for id_, is_learnt in (("learnt", True), ("judged", True), ("other", False)):
        ledger.decided(
            id_,
            event,
            id_,
            domain="garden",
            pack=None,
            is_silent=True,
            is_learnt=is_learnt,
            now=factories.NOON,
        )
    ledger.voted("judged", "user", -1.0)
    ends = ledger.ended()

    assert (ends["learnt"].value, ends["learnt"].source) == (None, "unknown")
    assert ends["judged"].value == 0.0
    assert ends["other"].value == 0.5
