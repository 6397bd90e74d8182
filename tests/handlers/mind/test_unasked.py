"""Remarks nobody asked for: events that come often, and somebody who feels bad."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.mind.turn import Turn
from projections.folds.executive import patterns
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import Muted, TraitAdjusted, UserStateChanged
from schemas.messages.notes import OpportunityDrawn
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.phrases import Phrases
from tests.factories import pack, plain_executive
from tests.scenario import Scenario, names, one, said

WORDS = Phrases(
    language="en",
    patterns={},
    replies={},
    refusal="No.",
    observations=("A lot of {type}: {count}.",),
    mood_comments=("Rough session?",),
)
ON = plain_executive(
    observation=True, mood_comment=True, phrases=(WORDS,), check_in_probability=1.0
)
MINING: dict[str, Any] = {"source": "game", "type_": "mined_ore"}


def start(compiled: CompiledPack | None = None, **executive: Any) -> Scenario:
    """A scenario in which somebody said something, twenty minutes into the session."""
    settings = ON.model_copy(update=executive)
    packs = () if compiled is None else (compiled,)
    scenario = Scenario(*packs, executive=settings)
    scenario.control(UserStateChanged(away=False))
    return scenario.wait(1_200)


def mines(scenario: Scenario, times: int, every_s: float = 10.0) -> Turn:
    """So many events of a kind come; the turn of the last one."""
    turns = [scenario.wait(every_s).sense("some ore", **MINING) for _ in range(times)]
    return turns[-1]


def tick(scenario: Scenario) -> Turn:
    """The clock ticks when the next timer is due."""
    due = scenario.mind.timers[0].due
    scenario.at = max(scenario.at, due)
    return scenario.tell(ClockTicked(due_at=due))


def test_the_fifth_of_a_kind_is_worth_a_word_drawn_at_once() -> None:
    """It is said once, in words with kind and count, and not again for ten minutes."""
    scenario = start()
    assert not said(mines(scenario, 4), OpportunityDrawn)
    drawn = one(mines(scenario, 1), OpportunityDrawn)
    turn = tick(scenario)
    decided = one(turn, Decided)
    taken = scenario.at

    assert (drawn.purpose, drawn.about) == ("observation", "game.mined_ore")
    assert drawn.due_at is not None
    assert (decided.type, decided.path) == ("observation", "proactive")
    assert decided.response_type == "observation"
    assert one(turn, DeliveryAsked).text == "A lot of mined ore: 5."
    assert one(turn, OpportunityDrawn).due_at is None
    again = mines(scenario, 1)
    # The same pattern may be remarked when the ten minutes are over.
    due = one(again, OpportunityDrawn).due_at
    assert due is not None
    assert due - taken >= timedelta(seconds=600)


@pytest.mark.parametrize(
    ("before", "now", "is_novel"),
    [(0, 5, True), (2, 5, True), (3, 5, False), (5, 5, False), (5, 13, True)],
)
def test_what_came_as_often_before_is_no_news(
    before: int, now: int, is_novel: bool
) -> None:
    """Novelty is the share of events that is more than in the ten minutes before."""
    scenario = start()
    if before:
        mines(scenario, before, every_s=1.0)
        scenario.wait(600 - before)
    mines(scenario, now, every_s=1.0)
    pattern = scenario.mind.executive.initiative.patterns["game.mined_ore"]

    assert (pattern.before, pattern.count) == (before, now)
    assert patterns.is_worth_a_word(pattern, ON) is is_novel


def test_a_pattern_that_is_over_is_not_remarked() -> None:
    """None came for ten minutes when its time has come."""
    scenario = start(check_in_probability=0.0001)
    mines(scenario, 5)
    turn = tick(scenario.wait(700))

    assert names(turn) == ["OpportunityDrawn", "Handled"]
    assert one(turn, OpportunityDrawn).due_at is None
    assert not scenario.mind.timers


def test_a_pack_has_words_of_its_own() -> None:
    """They go before the phrases, and the phrases are not needed."""
    mined = {"type": "mined_ore", "observation": "You have been mining for a while."}
    scenario = start(pack(events=[mined]), phrases=())
    mines(scenario, 5)

    assert (
        one(tick(scenario), DeliveryAsked).text == "You have been mining for a while."
    )


def test_a_persons_words_are_no_pattern() -> None:
    """Nor does the first of each of five kinds make one."""
    scenario = start()
    for place in range(6):
        scenario.sense("well", source="user", type_="message")
        scenario.sense("well", type_=f"kind-{place}")

    assert not scenario.mind.timers
    assert "user.message" not in scenario.mind.executive.initiative.patterns


def feels(scenario: Scenario, sentiment: float, person: str = "ana") -> Turn:
    """Somebody says something, and how that sounds is known."""
    return scenario.sense(
        "well", source="user", type_="message", person=person, sentiment=sentiment
    )


def test_somebody_who_feels_bad_is_spoken_to_once() -> None:
    """Not while it is only a little bad; again at another sign, five minutes later."""
    scenario = start()
    assert not said(feels(scenario, -0.3), OpportunityDrawn)
    drawn = one(feels(scenario, -0.6), OpportunityDrawn)
    turn = tick(scenario)
    taken = scenario.at

    assert (drawn.purpose, drawn.about) == ("mood_comment", None)
    decided = one(turn, Decided)
    assert (decided.type, decided.person) == ("mood_comment", "ana")
    assert one(turn, DeliveryAsked).text == "Rough session?"
    assert one(turn, OpportunityDrawn).due_at is None
    # The same sign is not remarked again.
    assert not said(scenario.wait(10).sense("ore"), OpportunityDrawn)
    again = one(feels(scenario.wait(60), -0.9), OpportunityDrawn)
    assert again.due_at is not None
    assert again.due_at - taken >= timedelta(seconds=300)


def test_a_mood_that_passed_is_not_remarked() -> None:
    """It was better when the time had come, or that was too long after."""
    for wait_s, better in ((10.0, 0.4), (400.0, None)):
        scenario = start(check_in_probability=0.05)
        feels(scenario, -0.6)
        if better is not None:
            feels(scenario, better)
        turn = tick(scenario.wait(wait_s))
        assert "Decided" not in names(turn)
        assert one(turn, OpportunityDrawn).due_at is None


@pytest.mark.parametrize("purpose", ["observation", "mood_comment"])
def test_who_is_busy_is_told_at_a_break_and_nobody_under_quiet(purpose: str) -> None:
    """As all that is said unasked."""
    for quiet in (False, True):
        scenario = start(timing=True)
        scenario.control(UserStateChanged(busy=True))
        mines(scenario, 5) if purpose == "observation" else feels(scenario, -0.6)
        if quiet:
            scenario.control(Muted(for_s=36_000.0))
        turn = tick(scenario)
        free = scenario.control(UserStateChanged(busy=False))
        decided = one(turn, Decided)
        assert decided.type == purpose
        assert decided.silence == ("quiet" if quiet else None)
        assert ("Held" in names(turn)) is not quiet
        assert ("DeliveryAsked" in names(free)) is not quiet


@pytest.mark.parametrize("purpose", ["observation", "mood_comment"])
def test_a_trait_that_moves_has_the_rest_drawn_anew(purpose: str) -> None:
    """By the same law as check-ins; about the same."""
    scenario = start(check_in_probability=0.01)
    turn = mines(scenario, 5) if purpose == "observation" else feels(scenario, -0.6)
    first = one(turn, OpportunityDrawn)
    moved = one(
        scenario.control(TraitAdjusted(trait="proactive", by_amount=0.5)),
        OpportunityDrawn,
    )

    assert (first.count, first.chance) == (1, 0.003)
    assert (moved.count, moved.chance, moved.about) == (2, 0.008, first.about)


def test_a_quiet_hour_and_an_empty_room_cost_nothing() -> None:
    """Nobody is there: no timer and no message, however many events come."""
    scenario = start()
    scenario.control(UserStateChanged(away=True))
    assert not said(mines(scenario, 20), OpportunityDrawn)
    assert not scenario.mind.timers
    early = Scenario(executive=ON)
    early.control(UserStateChanged(away=False))
    drawn = one(mines(early, 5), OpportunityDrawn)
    assert drawn.due_at is not None
    assert drawn.due_at - early.at >= timedelta(seconds=500)


def test_both_can_be_off() -> None:
    """Then nothing is counted, either; they are on by themselves."""
    assert ExecutiveSettings().observation
    assert ExecutiveSettings().mood_comment
    scenario = start(observation=False, mood_comment=False)
    mines(scenario, 6)
    feels(scenario, -0.9)

    assert not scenario.mind.timers
    assert len(scenario.mind.executive.initiative.patterns) == 0
