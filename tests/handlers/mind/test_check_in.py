"""Check-ins: by the law of a draw each second, at once, and never to an empty room."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from handlers.mind.stages import opportunity
from schemas.messages.decisions import Decided
from schemas.messages.executive import Muted, TraitAdjusted, UserStateChanged
from schemas.messages.notes import OpportunityDrawn
from schemas.messages.results import ClockTicked
from schemas.values.exact_math import power
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.phrases import Phrases
from tests.factories import plain_executive
from tests.scenario import Scenario, names, one, said

WORDS = Phrases(
    language="en",
    patterns={},
    replies={},
    refusal="No.",
    check_ins=("All well?", "Hm?"),
)
ON = plain_executive(check_in=True, phrases=(WORDS,))


def start(executive: ExecutiveSettings = ON, **settings: Any) -> Scenario:
    """A scenario in which the companion may speak by itself."""
    return Scenario(executive=executive, **settings)


def greet(scenario: Scenario, text: str = "hello there") -> Any:
    """A person says something."""
    return scenario.sense(text, source="user", type_="message")


def tick(scenario: Scenario) -> Any:
    """The clock ticks when the next timer is due."""
    due = scenario.mind.timers[0].due
    scenario.at = max(scenario.at, due)
    return scenario.tell(ClockTicked(due_at=due))


def boundary(ticks: int, chance: float) -> float:
    """The draw from which on the first success comes after `ticks`, by bisection."""
    low, high = 0.0, 1.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        if opportunity.first_success(middle, chance) <= ticks:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize("chance", [0.003, 0.01, 0.3, 0.75, 0.999])
def test_the_tick_drawn_has_the_law_of_a_draw_each_tick(chance: float) -> None:
    """It is at most k for just the share 1 - (1 - chance)^k of all draws."""
    for ticks in (1, 2, 3, 10, 100, 500):
        share = 1.0 - power(1.0 - chance, float(ticks))
        if share < 1.0 - 1e-9:
            assert boundary(ticks, chance) == pytest.approx(share, abs=1e-11)
    assert opportunity.first_success(0.999999, 1.0) == 1
    assert opportunity.first_success(0.0, chance) == 1


def test_drawing_the_rest_anew_keeps_the_law() -> None:
    """Chances that change at some ticks: the product of what each draw leaves is the law
    of a draw each tick."""
    changes = [(0, 0.01), (40, 0.003), (90, 0.5), (93, 0.02), (200, 0.02)]
    each_tick, left = [], 1.0
    for tick_ in range(300):
        chance = [q for at, q in changes if at <= tick_][-1]
        each_tick.append(left * chance)
        left *= 1.0 - chance
    drawn, left = [], 1.0
    for (at, chance), (until, _) in pairwise([*changes, (300, 0.0)]):
        before = 0.0
        for ticks in range(1, until - at + 1):
            share = boundary(ticks, chance)
            drawn.append(left * (share - before))
            before = share
        # Only where nothing came is anything drawn anew.
        left *= 1.0 - before

    assert drawn == pytest.approx(each_tick, abs=1e-10)


def test_somebody_is_asked_after_a_while_and_again() -> None:
    """Not in the first ten minutes; five minutes at least after anything was said."""
    scenario = start()
    began, hello = scenario.at, greet(scenario)
    first = one(hello, OpportunityDrawn)
    turn = tick(scenario)

    assert (first.count, first.chance) == (1, 0.003)
    assert first.due_at is not None
    assert first.due_at - began >= timedelta(minutes=10)
    decided = one(turn, Decided)
    assert (decided.path, decided.type, decided.response_type) == (
        "proactive", "check_in", "check_in",
    )  # fmt: skip
    assert decided.text in WORDS.check_ins
    again = one(turn, OpportunityDrawn)
    assert again.count == 2
    assert again.due_at is not None
    assert again.due_at - scenario.at >= timedelta(minutes=5)
    assert len(scenario.mind.timers) == 1


def test_whoever_spoke_meanwhile_is_not_asked_at_once() -> None:
    """The time is drawn again, with nothing said."""
    scenario = start()
    greet(scenario)
    due = scenario.mind.timers[0].due
    scenario.at = due - timedelta(seconds=20)
    spoken = greet(scenario)
    turn = tick(scenario)

    assert not said(spoken, OpportunityDrawn)
    assert names(turn) == ["OpportunityDrawn", "Handled"]
    drawn = one(turn, OpportunityDrawn)
    assert drawn.due_at is not None
    assert drawn.due_at >= due - timedelta(seconds=20) + timedelta(minutes=5)


def test_a_trait_that_moves_has_the_rest_drawn_anew() -> None:
    """One that leaves the chance as it is does not."""
    scenario = start()
    greet(scenario)
    other = scenario.control(TraitAdjusted(trait="humor", by_amount=0.2))
    moved = scenario.control(TraitAdjusted(trait="proactive", by_amount=0.5))

    assert not said(other, OpportunityDrawn)
    drawn = one(moved, OpportunityDrawn)
    assert (drawn.count, drawn.chance) == (2, 0.008)
    off = scenario.control(TraitAdjusted(trait="proactive", by_amount=-1.0))
    assert one(off, OpportunityDrawn).due_at is None
    assert not scenario.mind.timers


def test_an_empty_room_is_not_asked() -> None:
    """Nobody there for two hours, or away: the timer ends, and comes with the next words."""
    scenario = start()
    greet(scenario)
    scenario.wait(3 * 3_600)
    turn = tick(scenario)

    assert names(turn) == ["OpportunityDrawn", "Handled"]
    assert one(turn, OpportunityDrawn).due_at is None
    assert not scenario.mind.timers
    assert one(greet(scenario), OpportunityDrawn).due_at is not None
    left = scenario.control(UserStateChanged(away=True))
    assert one(left, OpportunityDrawn).due_at is None
    back = scenario.control(UserStateChanged(away=False))
    assert one(back, OpportunityDrawn).due_at is not None


def test_who_is_busy_is_asked_at_the_next_break() -> None:
    """A check-in waits, and another does not come meanwhile."""
    scenario = start(ON.model_copy(update={"timing": True}))
    greet(scenario)
    scenario.control(UserStateChanged(busy=True))
    held = tick(scenario)
    free = scenario.control(UserStateChanged(busy=False))

    assert names(held) == ["Decided", "Held", "OpportunityDrawn", "Handled"]
    assert one(held, Decided).timing == "queued"
    assert "DeliveryAsked" in names(free)


def test_a_quiet_silences_it_with_the_reason() -> None:
    """Nobody asked for it, so nothing excuses it."""
    scenario = start()
    greet(scenario)
    scenario.control(Muted(for_s=36_000.0))

    assert one(tick(scenario), Decided).silence == "quiet"


def test_an_hour_costs_messages_for_what_is_said_alone() -> None:
    """No input comes between check-ins, and none at all once nobody is there."""
    scenario = start()
    greet(scenario)
    began, before = scenario.at, len(scenario.turns)
    while scenario.mind.timers:
        tick(scenario)
    spoken = [
        each
        for turn in scenario.turns[before:]
        for each in said(turn, Decided)
        if each.silence is None
    ]

    assert len(scenario.turns) - before == len(spoken) + 1
    assert 3 <= len(spoken) <= 24
    assert scenario.at - began >= timedelta(hours=2)


def test_agents_with_nobody_there_have_neither_timers_nor_messages() -> None:
    """Events of sensors are no people."""
    scenario = start()
    for place in range(30):
        scenario.agent = f"agent-{place}"
        turn = scenario.sense("it rains")
        assert "OpportunityDrawn" not in names(turn)
        assert not scenario.mind.timers
        assert scenario.mind.executive.initiative.opportunities == ()


@pytest.mark.parametrize(
    "settings",
    [
        ON.model_copy(update={"check_in": False}),
        ON.model_copy(update={"phrases": ()}),
        ON.model_copy(update={"check_in_probability": 0.0}),
    ],
    ids=["off", "no words", "no chance"],
)
def test_it_can_be_off(settings: ExecutiveSettings) -> None:
    """It is on by itself; not where there is nothing to say, or no chance to."""
    scenario = start(settings)

    assert ExecutiveSettings().check_in
    assert not said(greet(scenario), OpportunityDrawn)
    assert not scenario.mind.timers


def test_the_draws_of_agents_and_of_times_differ() -> None:
    """The key is seed, agent, purpose and count."""
    scenario = start()
    values = []
    for agent in ("ana", "bo", "cy"):
        scenario.agent = agent
        values.append(one(greet(scenario), OpportunityDrawn).value)

    assert len(set(values)) == 3
