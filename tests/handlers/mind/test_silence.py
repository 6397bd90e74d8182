"""Silence that is learnt: what speaks for it and against it, and when it is kept."""

from typing import Any

import pytest

from handlers.mind.stages import quiet
from handlers.mind.turn import Turn
from schemas.messages.arms import SILENT
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.decisions import Decided, HeuristicFired
from schemas.messages.learning import FeedbackApplied, HeuristicFormed, SilenceWeighed
from schemas.state.evidence import Belief
from schemas.state.taught import Taught
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, decision_id, names, one, said

GARDEN = pack(
    heuristic(
        "low",
        "food is low",
        "Eat now.",
        0.8,
        when='type = "vital" and vital = "food" and value <= 5',
    ),
    types=("vital", "thing"),
)
FULL = "your food is restored to 8 of 9"


def alive(**settings: Any) -> Scenario:
    """A scenario that can learn to keep silent; where that is trusted it always does."""
    return Scenario(
        GARDEN,
        model=factories.MODEL,
        **{"relevance": 0.0, "silence": 0.05, "seed": "q", **settings},
    )


def happens(
    scenario: Scenario, text: str = FULL, value: int = 8, **fields: Any
) -> Turn:
    """An event at which it is best to say nothing."""
    shown = {"vital": "food", "value": value}
    return scenario.wait(600).sense(text, **{"fields": shown, **fields})


def spoken(scenario: Scenario, **event: Any) -> Turn:
    """Such an event, and what a model says of it all the same."""
    turn = happens(scenario, **event)
    if said(turn, ModelAsked):
        scenario.wait(1).answer_model(turn, "Have a look around.")
    return turn


def unwanted(scenario: Scenario, turn: Turn, actor: str = "user") -> Turn:
    """A person says that nothing should have been said."""
    return scenario.wait(1).feedback(turn, "negative", aspect="condition", actor=actor)


def silence(scenario: Scenario) -> Taught:
    """The heuristic that says nothing."""
    (found,) = (
        each
        for shelf in scenario.mind.shelves.values()
        for each in shelf.heuristics.values()
        if each.is_silence
    )
    return found


def held(scenario: Scenario) -> Belief:
    """What is believed of it."""
    known = silence(scenario)
    return scenario.belief(known.heuristic_id, known.content_hash)


def trusted(**settings: Any) -> Scenario:
    """A scenario in which silence is trusted."""
    scenario = alive(**settings)
    for _ in range(5):
        unwanted(scenario, spoken(scenario))
    return scenario


def kept(scenario: Scenario, **event: Any) -> Turn:
    """A decision by which silence was kept; now and then the model is asked."""
    for _ in range(20):
        turn = happens(scenario, **event)
        if said(turn, HeuristicFired):
            return turn
        scenario.answer_model(turn, "Hm.")
    raise AssertionError("it never kept silent")


def test_a_person_who_wanted_no_words_teaches_silence() -> None:
    """With all to prove, of the event's words and of what tests tell of it."""
    scenario = alive()
    turn = unwanted(scenario, spoken(scenario))

    assert names(turn) == ["FeedbackApplied", "HeuristicFormed"]
    formed = one(turn, HeuristicFormed)
    assert (formed.confidence, formed.is_silence, formed.text) == (
        0.3,
        True,
        quiet.SAYS,
    )
    assert formed.condition == FULL
    assert formed.when == 'type = "vital" and vital = "food" and value > 5'
    assert silence(scenario).vector == factories.embed(FULL)


def test_further_such_words_count_for_it() -> None:
    """Once each, and four of them are enough to be trusted."""
    scenario, seen = alive(), []
    for _ in range(5):
        turn = unwanted(scenario, spoken(scenario))
        seen.append([each.value for each in said(turn, SilenceWeighed)])

    assert seen == [[], [1.0], [1.0], [1.0], [1.0]]
    assert held(scenario).confidence == round((0.6 + 3.2) / 5.2, 6)


def test_trusted_silence_is_kept_and_told() -> None:
    """By the arm of silence, with the heuristic, its reason and both probabilities."""
    scenario = trusted()
    turn = kept(scenario)
    decided = one(turn, Decided)

    assert names(turn) == ["Decided", "HeuristicFired"]
    assert (decided.arm, decided.silence) == (SILENT, "learned_silence")
    assert (decided.path, decided.text, decided.final) == ("rejected", None, True)
    assert decided.matched_heuristic_id == silence(scenario).heuristic_id
    assert (decided.probability, decided.draw is None) == (0.95, False)
    arms = {each.arm: each for each in decided.candidates}
    (asked,) = [each for each in decided.candidates if each.arm.startswith("llm:")]
    assert asked.probability == 0.05
    known = silence(scenario)
    weighed = arms[f"heuristic:{known.heuristic_id}@{known.content_hash}"]
    assert (weighed.probability, weighed.silence, weighed.eligible) == (0.0, True, True)
    assert one(turn, HeuristicFired).mode == "kept"
    assert held(scenario).fire_count >= 1


def test_the_model_is_still_asked_with_the_probability_that_is_recorded() -> None:
    """About as often as the setting says, by the keyed draw."""
    scenario, asked = trusted(silence=0.3), 0
    for _ in range(200):
        turn = happens(scenario)
        if said(turn, ModelAsked):
            asked += 1
            assert one(turn, Decided).probability == 0.3
            scenario.answer_model(turn, "Hm.")

    assert 40 <= asked <= 80


@pytest.mark.parametrize(
    ("event", "is_kept"),
    [
        ({"salience": {"threat": 0.79}}, True),
        ({"salience": {"threat": 0.8}}, False),
        ({"urgency": 0.9}, False),
        ({"value": 6}, True),
        ({"value": 3, "text": "your food is down to 3 of 9"}, False),
        ({"fields": {"vital": "drink", "value": 8}}, False),
        ({"type_": "thing"}, False),
        ({"text": "an owl sings over the barn tonight"}, False),
    ],
    ids=str,
)
def test_it_is_kept_at_like_occasions_only(
    event: dict[str, Any], is_kept: bool
) -> None:
    """Never where much is at stake, nor where a test or the words tell them apart."""
    scenario = trusted()
    found = set()
    for _ in range(12):
        turn = happens(scenario, **event)
        found.add(one(turn, Decided).silence == "learned_silence")
        if said(turn, ModelAsked):
            scenario.answer_model(turn, "Hm.")

    assert (True in found) is is_kept


def test_praise_and_success_after_speaking_count_against_it() -> None:
    """A thumb for the words, or a report that they did good; no blame, and no silence."""
    scenario = alive()
    unwanted(scenario, spoken(scenario))
    praised = scenario.feedback(spoken(scenario))
    assert [each.value for each in said(praised, SilenceWeighed)] == [-1.0]

    turn = spoken(scenario)
    report = scenario.sense(
        "done", in_reply_to=decision_id(turn), outcome="succeeded", type_="thing"
    )
    (against,) = said(report, SilenceWeighed)
    assert (against.actor, against.value) == (None, -1.0)
    assert held(scenario).confidence == round(0.6 / (2.0 + 0.8 + 1.0), 6)

    before = held(scenario)
    scenario.feedback(spoken(scenario), "negative")
    scenario.feedback(spoken(scenario), "negative", aspect="timing")
    turn = spoken(scenario)
    scenario.sense("oh", in_reply_to=decision_id(turn), outcome="failed", type_="thing")
    spoken(scenario)
    assert held(scenario) == before


def test_a_changed_vote_changes_what_it_said_of_silence() -> None:
    """From for to against, and to nothing at all."""
    scenario = alive()
    unwanted(scenario, spoken(scenario))
    turn = spoken(scenario)
    unwanted(scenario, turn)
    up = held(scenario).confidence
    scenario.feedback(turn, "positive")
    down = held(scenario).confidence
    none = one(scenario.feedback(turn, "positive", aspect="timing"), SilenceWeighed)

    assert up > 0.3 > down
    assert none.value is None
    assert held(scenario).confidence == 0.3
    assert held(scenario).signals == ()


@pytest.mark.parametrize("aspect", ["overall", "condition"])
def test_who_misses_a_word_judges_the_silence(aspect: str) -> None:
    """A vote on a kept silence credits the heuristic that kept it, once."""
    scenario = trusted()
    first, second = kept(scenario), kept(scenario)
    before = held(scenario).confidence
    turn = scenario.feedback(first, "negative", aspect=aspect)

    assert names(turn) == ["FeedbackApplied"]
    assert one(turn, FeedbackApplied).heuristic_id == silence(scenario).heuristic_id
    assert held(scenario).confidence < before
    after = scenario.feedback(second, "positive", aspect=aspect)
    assert one(after, FeedbackApplied).value == 1.0


def test_no_word_counts_nothing() -> None:
    """However often silence was kept."""
    scenario = trusted()
    before = held(scenario)
    for _ in range(10):
        kept(scenario)

    assert held(scenario).signals == before.signals
    assert held(scenario).confidence == before.confidence


def test_a_model_is_never_shown_it() -> None:
    """Neither as a candidate nor as what was said before."""
    scenario = alive()
    unwanted(scenario, spoken(scenario))
    turn = happens(scenario)

    assert said(turn, HeuristicFired) == []
    assert quiet.SAYS not in one(turn, ModelAsked).prompt


def test_who_is_trusted_to_speak_speaks() -> None:
    """Learnt silence takes the model's place, never that of a trusted heuristic."""
    scenario = trusted()
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="well",
            domain="garden",
            condition=FULL,
            text="Well eaten.",
            confidence=0.9,
        )
    )

    assert one(happens(scenario), Decided).text == "Well eaten."


def test_a_person_s_own_words_are_never_met_with_it() -> None:
    """Whoever speaks to the companion wants an answer."""
    scenario = alive()
    for _ in range(8):
        turn = scenario.wait(600).sense("how are you", source="user", type_="message")
        scenario.wait(1).answer_model(turn, "Well.")
        unwanted(scenario, turn)

    assert said(
        scenario.wait(600).sense("how are you", source="user", type_="message"),
        ModelAsked,
    )


@pytest.mark.parametrize("strategy", ["urgency", "hybrid", "thompson"])
def test_every_strategy_that_trusts_may_keep_silent(strategy: str) -> None:
    """Whatever it asks the model with goes to silence, but for what still asks."""
    scenario = trusted(strategy={"name": strategy})

    assert one(kept(scenario), Decided).silence == "learned_silence"


def test_without_the_setting_nothing_is_learnt_of_silence() -> None:
    """As it was: neither occasions nor heuristics nor evidence."""
    scenario = alive(silence=0.0)
    for _ in range(3):
        turn = unwanted(scenario, spoken(scenario))
        assert names(turn) == ["FeedbackApplied"]

    assert len(scenario.mind.occasions) == 0
    assert not scenario.mind.shelves


def test_what_no_test_tells_apart_the_words_must() -> None:
    """An event without fields is like another only if it says nearly the same."""
    scenario = alive()
    for _ in range(5):
        turn = scenario.wait(600).sense("the wind blows from the east", type_="thing")
        if said(turn, ModelAsked):
            scenario.answer_model(turn, "A fine wind.")
        unwanted(scenario, turn)
    assert silence(scenario).when == 'type = "thing"'

    near = scenario.wait(600).decide(
        "the wind blows hard from the south", type_="thing"
    )
    assert near.silence is None


def test_the_person_hears_nothing() -> None:
    """A kept silence is delivered to nobody."""
    scenario = trusted()

    assert said(kept(scenario), DeliveryAsked) == []
