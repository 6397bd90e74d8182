"""What somebody wants said: in these words, as far as the limits allow."""

from typing import Any

import pytest
from msgspec.structs import replace

from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed, Decided, Dropped, Held
from schemas.messages.executive import Muted, OutputRequested, UserStateChanged
from schemas.messages.notes import ControlApplied
from schemas.messages.results import ClockTicked
from schemas.values.reasons import Silence
from tests.factories import heuristic, pack
from tests.scenario import Scenario, one

DINNER = OutputRequested(text="Dinner is ready.", person="ada")


def home(**settings: Any) -> Scenario:
    """A mind with an executive."""
    known = pack(heuristic("low", "food is low", "Eat now.", 0.9))
    return Scenario(known, relevance=0.0, executive=settings)


def test_it_is_said_in_these_words_and_recorded() -> None:
    """A decision of its own, applied control and delivery in one group."""
    scenario = home(template="jester")
    turn = scenario.control(DINNER)
    decided, asked = one(turn, Decided), one(turn, DeliveryAsked)

    assert one(turn, ControlApplied).control == "output_requested"
    assert (decided.path, decided.arm, decided.text) == (
        "proactive", "emit", "Dinner is ready.",
    )  # fmt: skip
    assert (decided.type, decided.person, decided.final) == ("request", "ada", True)
    assert (asked.text, asked.channel) == (
        "Dinner is ready.",
        scenario.settings.channel,
    )


def test_it_goes_to_the_channel_that_is_named() -> None:
    """Also when it waited."""
    scenario = home(timing=True)
    wanted = replace(DINNER, channel="kitchen")
    at_once = one(scenario.control(wanted), DeliveryAsked)
    scenario.control(UserStateChanged(person="ada", busy=True))
    held = one(scenario.control(wanted), Held)
    free = scenario.control(UserStateChanged(person="ada", busy=False))

    assert at_once.channel == held.answer.channel == "kitchen"
    assert one(free, Completed).text == "Dinner is ready."
    assert one(free, DeliveryAsked).channel == "kitchen"


@pytest.mark.parametrize(("mode", "of_alert"), [("quiet", None), ("mute", "muted")])
def test_restraints_hold_for_it_and_an_alert_passes_quiet(
    mode: Any, of_alert: Silence | None
) -> None:
    """Whoever wants it said: a program may not speak into a quiet that a person has."""
    scenario = home()
    scenario.control(Muted(mode=mode))
    turn = scenario.control(DINNER)
    alert = replace(DINNER, response_type="alert")

    assert one(turn, Decided).silence == ("quiet" if mode == "quiet" else "muted")
    assert one(turn, ControlApplied).control == "output_requested"
    assert one(scenario.control(alert), Decided).silence == of_alert


def test_cooldown_holds_for_it() -> None:
    """Two at once are one too many: the other is said four seconds later."""
    scenario = home(cooldown_s=4.0)
    first = one(scenario.control(DINNER), Decided)
    second = one(scenario.control(DINNER), Decided)
    later = scenario.wait(4).tell(ClockTicked(due_at=scenario.at))

    assert (first.timing, second.timing) == ("immediate", "batched")
    assert one(later, Completed).decision_id != one(later, DeliveryAsked).text


def test_it_waits_for_who_is_busy_unless_it_is_urgent_and_lapses() -> None:
    """After five minutes, or the time that the request names, it is worth nothing."""
    scenario = home(timing=True)
    scenario.control(UserStateChanged(person="ada", busy=True))
    urgent = replace(DINNER, urgent=True)
    short = replace(DINNER, ttl_s=10.0)

    assert one(scenario.control(urgent), Decided).final
    assert not one(scenario.control(short), Decided).final
    assert (
        one(scenario.wait(11).tell(ClockTicked(due_at=scenario.at)), Dropped).reason
        == "stale"
    )
