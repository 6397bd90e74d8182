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
from tests.life import Life, decision_id, one, output, said

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


def start(**learning: Any) -> Life:
    """A life in which both heuristics answer, and advice can be taken back."""
    settings = {"undo_s": 30.0, "ignored_after": 0, **learning}
    return Life(GARDEN, threshold=0.3, learning=settings)


def advised(life: Life, text: str = "health low", **event: Any) -> Turn:
    """An event that a heuristic answered, in the same second as nothing else."""
    turn = life.wait(1).sense(text, salience=THREAT, **event)
    assert said(turn, HeuristicFired), "the test wants an answer"
    return turn


def belief(life: Life, id_: str = DRINK) -> Belief:
    """What is believed of one of the two."""
    row = GARDEN.row_of(id_)
    assert row is not None
    return life.belief(id_, GARDEN.content_hashes[row])


def tick(life: Life, seconds: float) -> Turn:
    """Let time pass and timers run."""
    return life.wait(seconds).tell(ClockTicked(due_at=life.at))


@pytest.mark.parametrize("declared", [0.05, 0.3, 0.9, 0.95])
def test_x1_a_vote_moves_confidence_its_own_way(declared: float) -> None:
    """What was declared is the prior: a first failure lowers it, a success lifts it."""
    votes: list[tuple[Literal["positive", "negative"], int]] = [
        ("positive", 1),
        ("negative", -1),
    ]
    for rating, sign in votes:
        life = Life()
        life.control(
            HeuristicSeeded(
                heuristic_id="h",
                name="h",
                domain="game",
                condition="health low",
                text="Rest.",
                confidence=declared,
            )
        )
        life.tell(FeedbackGiven(heuristic_id="h", rating=rating))
        (held,) = life.mind.beliefs.values()

        assert (held.confidence - declared) * sign > 0


def test_x2_an_undo_is_followed_by_no_reward_of_silence() -> None:
    """The fire has its one implicit signal; that nothing more comes adds none."""
    life = start()
    advised(life, text="health low", entities=["ana"])
    undo = life.wait(5).sense("undo", entities=["ana"])
    before = belief(life)
    tick(life, 120)

    assert one(undo, OutcomeObserved).by == "undo"
    assert not said(life.turns[-1], OutcomeExpired)
    assert belief(life).signals == before.signals
    assert belief(life).confidence == 0.333333


def test_x3_silence_is_no_evidence_by_itself() -> None:
    """Three fires of which nothing comes leave confidence where it was."""
    life = start()
    for _ in range(3):
        advised(life)
        assert said(tick(life, 100), OutcomeExpired)

    assert belief(life).signals == ()
    assert belief(life).confidence == 0.5


def test_x3_where_silence_counts_it_counts_once_and_against() -> None:
    """Three in a row are one weak failure, and three more one more."""
    life = start(ignored_after=3)
    ignored = []
    for _ in range(6):
        advised(life)
        ignored += said(tick(life, 100), AdviceIgnored)

    assert [each.count for each in ignored] == [3, 3]
    assert [each.kind for each in belief(life).signals] == ["ignored", "ignored"]
    assert belief(life).confidence == pytest.approx(1 / 2.6, abs=1e-6)


def test_x4_a_timeout_is_no_success() -> None:
    """What was waited for in vain, good or bad, says nothing."""
    life = start()
    advised(life)
    expired = one(tick(life, 61), OutcomeExpired)

    assert expired.heuristic_id == DRINK
    assert belief(life).signals == ()


def test_x5_what_the_person_never_saw_earns_nothing() -> None:
    """The model answered: what follows is not the candidate's doing."""
    life = Life(
        GARDEN, model=factories.MODEL, learning={"undo_s": 30.0, "ignored_after": 1}
    )
    turn = life.sense("health low", salience=THREAT, entities=["ana"])
    life.answer_model(turn)
    shown = life.wait(1).sense("health restored", entities=["ana"])
    undo = life.sense("undo it", entities=["ana"])
    tick(life, 300)

    assert not said(shown, OutcomeObserved)
    assert not said(undo, OutcomeObserved)
    assert len(life.mind.beliefs) == 0


def test_x6_an_outcome_belongs_to_its_own_fire() -> None:
    """The fire whose entities match is settled, not the latest of the heuristic."""
    life = start()
    first = advised(life, entities=["ana"])
    advised(life, entities=["bo"])
    shown = one(
        life.wait(1).sense("health restored", entities=["ana"]), OutcomeObserved
    )

    assert shown.fire_id == output(first, HeuristicFired).id
    assert [each.fire_id for each in life.mind.fires] != [shown.fire_id]
    assert [each.fire_id for each in belief(life).signals] == [shown.fire_id]


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
    life = start()
    advised(life, text="dark outside", entities=["ana"])
    turn = life.wait(1).sense(**event)

    assert not said(turn, OutcomeObserved)
    assert belief(life, LAMP).signals == ()


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
    life = start()
    advice = advised(life, text="dark outside", entities=["ana"])
    first, again = (life.wait(1).sense(**event) for _ in range(2))

    told = one(first, OutcomeObserved)
    assert (told.by, told.outcome) == ("undo", "fail")
    assert told.fire_id == output(advice, HeuristicFired).id
    assert not said(again, OutcomeObserved)
    assert belief(life, LAMP).confidence == 0.333333


@pytest.mark.parametrize(("seconds", "counts"), [(30, True), (30.5, False)])
def test_x7_an_undo_has_its_time(seconds: float, counts: bool) -> None:
    """After half a minute it is about something else."""
    life = start()
    advised(life, text="dark outside")
    turn = life.wait(seconds).sense("undo the lamp")

    assert bool(said(turn, OutcomeObserved)) == counts


def test_x7_only_the_response_that_is_named_is_undone() -> None:
    """Of two in the same half minute, the one that it is about."""
    life = start()
    lamp = advised(life, text="dark outside")
    advised(life)
    told = one(life.wait(1).sense("undo the lamp"), OutcomeObserved)

    assert told.decision_id == decision_id(lamp)


def test_x8_success_and_failure_are_both_waited_for() -> None:
    """The first that is seen decides, whichever was written first."""
    for text, outcome in (("health restored", "success"), ("player died", "fail")):
        life = start()
        advised(life)

        assert one(life.wait(1).sense(text), OutcomeObserved).outcome == outcome


def test_x9_repeated_votes_are_one() -> None:
    """The last click counts, however many there were and however late they come."""
    life, once = start(), start()
    turn = advised(life)
    for rating in ("positive", "negative", "positive", "negative"):
        life.wait(4_000).feedback(turn, rating)
    once.feedback(advised(once), "negative")

    assert belief(life).signals[0].votes == belief(once).signals[0].votes
    assert belief(life).confidence == belief(once).confidence == 0.357143


def test_x10_a_good_answer_is_credited_without_a_model() -> None:
    """A thumbs-up on what a heuristic said needs nobody to extract anything."""
    life = start()
    life.feedback(advised(life))

    assert life.settings.model is None
    assert belief(life).confidence == 0.642857


def test_a_vote_or_the_worlds_answer_breaks_a_row_of_ignored_fires() -> None:
    """Two unanswered fires before it and two after it are not three in a row."""
    for breaks in ("vote", "late vote", "world", "cancelled"):
        life = start(ignored_after=3)
        for place in range(5):
            turn = advised(life)
            if place == 2 and breaks == "vote":
                life.feedback(turn, "positive", aspect="timing")
            if place == 2 and breaks == "world":
                life.sense("health restored")
            if place == 2 and breaks == "cancelled":
                life.sense("hm", in_reply_to=decision_id(turn), outcome="cancelled")
            tick(life, 100)
            if place == 1 and breaks == "late vote":
                life.feedback(turn, "negative", aspect="condition")

        found = [each for each in life.outputs() if isinstance(each, AdviceIgnored)]
        assert len(found) == (breaks == "late vote")


def test_a_report_takes_the_place_of_what_silence_counted_for() -> None:
    """The fire keeps one implicit signal: what happened after all."""
    life = start(ignored_after=1)
    turn = advised(life)
    assert said(tick(life, 100), AdviceIgnored)
    life.sense("hm", in_reply_to=decision_id(turn), outcome="succeeded")

    assert [(each.kind, each.value) for each in belief(life).signals] == [
        ("implicit", 1.0)
    ]
    assert belief(life).success_count == 1
