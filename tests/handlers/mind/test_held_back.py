"""What was held back for reasons of the moment is as new the next time as the first."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.messages.decisions import Decided, Dropped
from schemas.messages.executive import Muted, SalienceModulated, UserStateChanged
from tests.factories import heuristic, pack, plain_executive
from tests.handlers.mind.flows.test_waiting import home
from tests.scenario import Scenario, one

RING = "somebody rings at the door"
OTHER = "the washing machine is done"
ANSWER = "Somebody is at the door."
WASH = heuristic("wash", OTHER, "Hang up the laundry.", 0.8)
HOME = pack(heuristic("ring", RING, ANSWER, 0.8), WASH)
QUIPS = pack(
    heuristic("ring", RING, ANSWER, 0.8) | {"action": {"text": ANSWER, "type": "quip"}},
    WASH,
)


def rings(scenario: Scenario, text: str = RING, after_s: float = 20.0) -> Decided:
    """What is decided on a ring some seconds later."""
    return scenario.wait(after_s).decide(text)


def novelty(decided: Decided) -> float:
    """How new the event was."""
    return decided.salience.dimensions["novelty"]


def muted(scenario: Scenario) -> None:
    """Until taken back."""
    scenario.control(Muted(mode="mute"))


def unmuted(scenario: Scenario) -> None:
    """The mute is over."""
    scenario.control(Muted(mode="mute", off=True))


def quiet(scenario: Scenario) -> None:
    """For ten minutes."""
    scenario.control(Muted())


def loud(scenario: Scenario) -> None:
    """The quiet is over."""
    scenario.control(Muted(off=True))


def suppressed(scenario: Scenario) -> None:
    """Nobody wants to hear of the door."""
    scenario.control(SalienceModulated(change="suppress", type="vital", for_s=120))


def speaks(scenario: Scenario) -> None:
    """Of something else, after which it must rest."""
    assert rings(scenario, OTHER).text == "Hang up the laundry."


def waits(scenario: Scenario) -> None:
    """Until the limit of the moment is over."""
    scenario.wait(3_600.0)


def busy(scenario: Scenario) -> None:
    """Whoever is there has no time for a quip."""
    scenario.control(UserStateChanged(busy=True))


def free(scenario: Scenario) -> None:
    """And has it again."""
    scenario.control(UserStateChanged(busy=False))


CASES: Sequence[
    tuple[str, dict[str, Any], Callable[[Scenario], None], Callable[[Scenario], None]]
] = (
    ("muted", {}, muted, unmuted),
    ("quiet", {}, quiet, loud),
    ("suppressed", {}, suppressed, waits),
    ("quiet_hours", {"quiet_hours": "12:00-12:30"}, lambda _: None, waits),
    ("rate", {"rate_per_hour": 1}, speaks, waits),
    ("busy", {"quip_interval_s": 5.0}, busy, free),
)


@pytest.mark.parametrize(("why", "limits", "hold", "release"), CASES)
def test_it_stays_new(
    why: str,
    limits: dict[str, Any],
    hold: Callable[[Scenario], None],
    release: Callable[[Scenario], None],
) -> None:
    """A ring nobody was told of neither bores nor is it got used to."""
    scenario = Scenario(QUIPS if why == "busy" else HOME, executive=limits)
    hold(scenario)

    kept = [rings(scenario) for _ in range(3)]
    release(scenario)
    first, second = rings(scenario), rings(scenario)

    assert {each.silence for each in kept} == {why}
    assert [novelty(each) for each in kept] == [novelty(kept[0])] * 3
    assert (first.text, novelty(first)) == (ANSWER, novelty(kept[0]))
    assert first.salience.sensitivity == 1.0
    # What was said is known.
    assert novelty(second) == 0.0


def test_what_was_known_before_is_known_after() -> None:
    """A mute takes nothing back of what was told before it."""
    scenario = Scenario(HOME, executive={})
    told = rings(scenario)
    muted(scenario)
    rings(scenario)
    unmuted(scenario)

    assert told.text is not None
    assert novelty(rings(scenario)) == 0.0


def test_an_answer_that_waited_for_a_mute_leaves_its_event_new() -> None:
    """It was decided on, then dropped: nobody heard of it."""
    scenario = Scenario(home(), executive=plain_executive(timing=True), relevance=0.01)
    scenario.control(UserStateChanged(busy=True))
    waited = one(scenario.sense(OTHER, salience={"social": 0.9}), Decided)
    before = scenario.mind.sources["game"]
    muted(scenario)
    ended = scenario.wait(10.0).control(UserStateChanged(busy=False))
    unmuted(scenario)
    after = scenario.decide(OTHER, salience={"social": 0.9})

    assert before.recent
    assert not waited.final
    assert one(ended, Dropped).reason == "muted"
    assert (novelty(after), after.salience.sensitivity) == (1.0, 1.0)
