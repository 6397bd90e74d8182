"""Credit: what each source of it must not credit, mistake by mistake.

X1 to X10 are ten ways in which a companion that learns from what follows its advice
learns the wrong thing; none of them may happen here.
"""

from typing import Any, Literal

import pytest

from handlers.mind.turn import Turn
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import AdviceIgnored, OutcomeExpired, OutcomeObserved
from schemas.messages.results import ClockTicked
from schemas.state.evidence import Belief
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, decision_id, names, one, output, said

THREAT = {"threat": 0.9}
LIGHT = {"type": "light_on", "target": "lamp"}
GARDEN = pack(
    heuristic(
        "light",
        "dark outside",
        "Light!",
        confidence=0.5,
        action={"text": "Light!", "action": LIGHT},
    ),
    heuristic("drink", "health low", "Drink.", confidence=0.5),
    patterns=[
        pattern("health", "health restored", 60),
        pattern("health", "player died", 60, success=False),
    ],
)
LAMP, DRINK = GARDEN.ids


def start(**learning: Any) -> Scenario:
    """A scenario in which both heuristics answer, and advice can be taken back."""
    settings = {"undo_s": 30.0, "ignored_after": 0, **learning}
    return Scenario(GARDEN, threshold=0.3, learning=settings)


def advised(scenario: Scenario, text: str = "health low", **event: Any) -> Turn:
    """An event that a heuristic answered, in the same second as nothing else."""
    turn = scenario.wait(1).sense(text, salience=THREAT, **event)
    assert said(turn, HeuristicFired), "the test wants an answer"
    return turn


def belief(scenario: Scenario, id_: str = DRINK) -> Belief:
    """What is believed of one of the two."""
    row = GARDEN.row_of(id_)
    assert row is not None
    return scenario.belief(id_, GARDEN.content_hashes[row])


def tick(scenario: Scenario, seconds: float) -> Turn:
    """Let time pass and timers run."""
    return scenario.wait(seconds).tell(ClockTicked(due_at=scenario.at))


@pytest.mark.parametrize("declared", [0.05, 0.3, 0.9, 0.95])
def test_x1_a_vote_moves_confidence_its_own_way(declared: float) -> None:
    """What was declared is the prior: a first failure lowers it, a success lifts it."""
    votes: list[tuple[Literal["positive", "negative"], int]] = [
        ("positive", 1),
        ("negative", -1),
    ]
    for rating, sign in votes:
        scenario = Scenario()
        scenario.control(
            HeuristicSeeded(
                heuristic_id="h",
                name="h",
                domain="game",
                condition="health low",
                text="Rest.",
                confidence=declared,
            )
        )
        scenario.tell(FeedbackGiven(heuristic_id="h", rating=rating))
        (held,) = scenario.mind.beliefs.values()

        assert (held.confidence - declared) * sign > 0


def test_x2_an_undo_is_followed_by_no_reward_of_silence() -> None:
    """The fire has its one implicit signal; that nothing more comes adds none."""
    scenario = start()
    advised(scenario, text="health low", entities=["ana"])
    undo = scenario.wait(5).sense("undo", entities=["ana"])
    before = belief(scenario)
    tick(scenario, 120)

    assert one(undo, OutcomeObserved).by == "undo"
    assert not said(scenario.turns[-1], OutcomeExpired)
    assert belief(scenario).signals == before.signals
    assert belief(scenario).confidence == 0.333333


def test_x3_silence_is_no_evidence_by_itself() -> None:
    """Three fires of which nothing comes leave confidence where it was."""
    scenario = start()
    for _ in range(3):
        advised(scenario)
        assert said(tick(scenario, 100), OutcomeExpired)

    assert belief(scenario).signals == ()
    assert belief(scenario).confidence == 0.5


def test_x3_where_silence_counts_it_counts_once_and_against() -> None:
    """Three in a row are one weak failure, and three more one more."""
    scenario = start(ignored_after=3)
    ignored = []
    for _ in range(6):
        advised(scenario)
        ignored += said(tick(scenario, 100), AdviceIgnored)

    assert [each.count for each in ignored] == [3, 3]
    assert [each.kind for each in belief(scenario).signals] == ["ignored", "ignored"]
    assert belief(scenario).confidence == pytest.approx(1 / 2.6, abs=1e-6)


def test_x4_a_timeout_is_no_success() -> None:
    """What was waited for in vain, good or bad, says nothing."""
    scenario = start()
    advised(scenario)
    expired = one(tick(scenario, 61), OutcomeExpired)

    assert expired.heuristic_id == DRINK
    assert belief(scenario).signals == ()


def test_x5_what_the_person_never_saw_earns_nothing() -> None:
    """The model answered: what follows is not the candidate's doing."""
    scenario = Scenario(
        GARDEN, model=factories.MODEL, learning={"undo_s": 30.0, "ignored_after": 1}
    )
    turn = scenario.sense("health low", salience=THREAT, entities=["ana"])
    scenario.answer_model(turn)
    shown = scenario.wait(1).sense("health restored", entities=["ana"])
    undo = scenario.sense("undo it", entities=["ana"])
    tick(scenario, 300)

    assert not said(shown, OutcomeObserved)
    assert not said(undo, OutcomeObserved)
    assert len(scenario.mind.beliefs) == 0


def test_x6_an_outcome_belongs_to_its_own_fire() -> None:
    """The fire whose entities match is settled, not the latest of the heuristic."""
    scenario = start()
    first = advised(scenario, entities=["ana"])
    advised(scenario, entities=["bo"])
    shown = one(
        scenario.wait(1).sense("health restored", entities=["ana"]), OutcomeObserved
    )

    assert shown.fire_id == output(first, HeuristicFired).id
    assert [each.fire_id for each in scenario.mind.fires] != [shown.fire_id]
    assert [each.fire_id for each in belief(scenario).signals] == [shown.fire_id]


@pytest.mark.parametrize(
    "event",
    [
        {"text": "sundown over the lamp"},
        {"text": "the party was cancelled"},
        {"text": "undo", "entities": ["bo"]},
        {"text": "cancel the lamp", "source": "chat", "type_": "line"},
        {"text": "undoing lamps"},
        {"text": "fine", "fields": {"undoes": "health_on"}},
        {"text": "cancel the lamp", "fields": {"undoes": "door"}},
    ],
)
def test_x7_what_does_not_name_the_response_undoes_nothing(
    event: dict[str, Any],
) -> None:
    """No part of a word, no other's event, no other domain, no bare cancelling."""
    scenario = start()
    advised(scenario, text="dark outside", entities=["ana"])
    turn = scenario.wait(1).sense(**event)

    assert not said(turn, OutcomeObserved)
    assert belief(scenario, LAMP).signals == ()


@pytest.mark.parametrize(
    "event",
    [
        {"text": "undo the lamp"},
        {"text": "Light on: cancelled"},
        {"text": "never mind", "entities": ["ana"]},
        {"text": "off", "fields": {"undoes": "light_on"}},
        {"text": "off", "fields": {"undoes": "lamp"}},
        {"text": "off", "fields": {"undoes": "ana"}},
    ],
)
def test_x7_what_names_it_in_time_undoes_it_once(event: dict[str, Any]) -> None:
    """By the action, its target, or who takes part; and a second time changes nothing."""
    scenario = start()
    advice = advised(scenario, text="dark outside", entities=["ana"])
    first, again = (scenario.wait(1).sense(**event) for _ in range(2))

    told = one(first, OutcomeObserved)
    assert (told.by, told.outcome) == ("undo", "fail")
    assert told.fire_id == output(advice, HeuristicFired).id
    assert not said(again, OutcomeObserved)
    assert belief(scenario, LAMP).confidence == 0.333333


@pytest.mark.parametrize(("seconds", "counts"), [(30, True), (30.5, False)])
def test_x7_an_undo_has_its_time(seconds: float, counts: bool) -> None:
    """After half a minute it is about something else."""
    scenario = start()
    advised(scenario, text="dark outside")
    turn = scenario.wait(seconds).sense("undo the lamp")

    assert bool(said(turn, OutcomeObserved)) == counts


def test_x7_only_the_response_that_is_named_is_undone() -> None:
    """Of two in the same half minute, the one that it is about."""
    scenario = start()
    lamp = advised(scenario, text="dark outside")
    advised(scenario)
    told = one(scenario.wait(1).sense("undo the lamp"), OutcomeObserved)

    assert told.decision_id == decision_id(lamp)


def test_x7_of_two_like_responses_the_latest_is_undone() -> None:
    """ "Undo" means what was just advised, whatever was advised before it."""
    scenario = start()
    first = advised(scenario, text="dark outside", entities=["ana"])
    second = advised(scenario, text="dark outside", entities=["ana"])
    told = one(scenario.wait(1).sense("undo the lamp"), OutcomeObserved)

    assert decision_id(first) != decision_id(second)
    assert told.decision_id == decision_id(second)
    assert told.fire_id == output(second, HeuristicFired).id
    assert [each.fire_id for each in belief(scenario, LAMP).signals] == [told.fire_id]


def test_x7_an_undo_corrects_a_timeout() -> None:
    """That nothing came in time says little; that it was taken back says all."""
    scenario = start(undo_s=120.0)
    advice = advised(scenario, entities=["ana"])
    assert names(tick(scenario, 61)) == ["OutcomeExpired", "Handled"]
    told = one(scenario.wait(1).sense("undo", entities=["ana"]), OutcomeObserved)
    known = scenario.mind.decisions.get(decision_id(advice))

    assert (told.by, told.outcome) == ("undo", "fail")
    assert known is not None
    assert known.outcome == "fail"
    assert belief(scenario).confidence == 0.333333


def test_x7_an_undo_corrects_no_outcome_that_was_seen() -> None:
    """What turned out well did, though somebody takes it back later."""
    scenario = start(undo_s=120.0)
    advised(scenario, entities=["ana"])
    seen = scenario.wait(1).sense("health restored", entities=["ana"])
    undo = scenario.wait(1).sense("undo", entities=["ana"])

    assert one(seen, OutcomeObserved).outcome == "success"
    assert not said(undo, OutcomeObserved)


def test_x8_success_and_failure_are_both_waited_for() -> None:
    """The first that is seen decides, whichever was written first."""
    for text, outcome in (("health restored", "success"), ("player died", "fail")):
        scenario = start()
        advised(scenario)

        assert one(scenario.wait(1).sense(text), OutcomeObserved).outcome == outcome


def test_x9_repeated_votes_are_one() -> None:
    """The last click counts, however many there were and however late they come."""
    scenario, once = start(), start()
    turn = advised(scenario)
    for rating in ("positive", "negative", "positive", "negative"):
        scenario.wait(4_000).feedback(turn, rating)
    once.feedback(advised(once), "negative")

    assert belief(scenario).signals[0].votes == belief(once).signals[0].votes
    assert belief(scenario).confidence == belief(once).confidence == 0.357143


def test_x10_a_good_answer_is_credited_without_a_model() -> None:
    """A thumbs-up on what a heuristic said needs nobody to extract anything."""
    scenario = start()
    scenario.feedback(advised(scenario))

    assert scenario.settings.model is None
    assert belief(scenario).confidence == 0.642857


def test_a_vote_or_the_worlds_answer_breaks_a_row_of_ignored_fires() -> None:
    """Two unanswered fires before it and two after it are not three in a row."""
    for breaks in ("vote", "late vote", "world", "cancelled"):
        scenario = start(ignored_after=3)
        for place in range(5):
            turn = advised(scenario)
            if place == 2 and breaks == "vote":
                scenario.feedback(turn, "positive", aspect="timing")
            if place == 2 and breaks == "world":
                scenario.sense("health restored")
            if place == 2 and breaks == "cancelled":
                scenario.sense("hm", in_reply_to=decision_id(turn), outcome="cancelled")
            tick(scenario, 100)
            if place == 1 and breaks == "late vote":
                scenario.feedback(turn, "negative", aspect="condition")

        found = [each for each in scenario.outputs() if isinstance(each, AdviceIgnored)]
        assert len(found) == (breaks == "late vote")


def test_a_report_takes_the_place_of_what_silence_counted_for() -> None:
    """The fire keeps one implicit signal: what happened after all."""
    scenario = start(ignored_after=1)
    turn = advised(scenario)
    assert said(tick(scenario, 100), AdviceIgnored)
    scenario.sense("hm", in_reply_to=decision_id(turn), outcome="succeeded")

    assert [(each.kind, each.value) for each in belief(scenario).signals] == [
        ("implicit", 1.0)
    ]
    assert belief(scenario).success_count == 1
