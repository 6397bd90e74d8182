"""Being told off: quiet, mute, quiet hours, cooldowns, a rate; what each lets through."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped, Gate, Held
from schemas.messages.executive import Muted
from schemas.messages.results import ClockTicked
from schemas.state import limits
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, applied, names, one, said

GARDEN = pack(
    heuristic("low", "food is low", "Eat now.", 0.8),
    heuristic("dusk", "dusk falls now", "Go home.", 0.8),
    types=("vital", "thing", "message"),
)
LOW = "food is low"
DUSK = "dusk falls now"


def alive(**executive: Any) -> Scenario:
    """A scenario with an executive, and two heuristics that answer."""
    return Scenario(GARDEN, relevance=0.0, executive=executive)


def gate(decided: Decided, name: str) -> Gate | None:
    """The gate of this name on record."""
    return next((each for each in decided.gates if each.name == name), None)


def closed(decided: Decided) -> str | None:
    """Why nothing was said; None if something was, and the record agrees."""
    assert (decided.silence is None) == (decided.text is not None)
    return decided.silence


def happens(
    scenario: Scenario, text: str = LOW, after_s: float = 1.0, **fields: Any
) -> Decided:
    """What is decided on an event."""
    return scenario.wait(after_s).decide(text, **fields)


def says(scenario: Scenario, text: str = LOW, **fields: Any) -> Decided:
    """What is decided on a person's words."""
    return scenario.decide(text, source="user", type_="message", **fields)


THREAT: dict[str, Any] = {"salience": {"threat": 0.8}}


def test_quiet_lasts_ten_minutes() -> None:
    """To the second: at ten minutes it is over, and only what matters more is said."""
    scenario = alive()
    assert applied(scenario.control(Muted())) == "quiet for 600 s"

    just_before = happens(scenario, after_s=599.0)
    then = happens(
        scenario, DUSK, after_s=1.0, salience={"social": 0.29, "novelty": 0.29}
    )
    now = happens(scenario, LOW, after_s=1.0, salience={"social": 0.3, "novelty": 0.3})

    assert closed(just_before) == "quiet"
    kept = gate(just_before, "quiet")
    assert kept == Gate(
        name="quiet", passed=False, note="asked for by user, for 1 s more"
    )
    assert closed(then) == "below_relevance"
    assert gate(then, "quiet") is None
    relevance = gate(then, "relevance")
    assert relevance is not None
    assert (relevance.threshold, relevance.note) == (
        0.3,
        "the threshold is moved by +0.30",
    )
    assert closed(now) is None


def test_ten_minutes_after_quiet_all_is_as_usual() -> None:
    """The raised threshold ends to the second, and then nothing is left of the quiet."""
    scenario = alive()
    scenario.control(Muted(for_s=60))

    assert closed(happens(scenario, after_s=659.0, salience={"novelty": 0.1})) == (
        "below_relevance"
    )
    assert (
        closed(happens(scenario, DUSK, after_s=1.0, salience={"novelty": 0.1})) is None
    )
    scenario.control(Muted(mode="mute", for_s=1))
    assert [each.mode for each in scenario.mind.executive.peace.restraints] == ["mute"]


def test_quiet_that_is_taken_back_is_over_at_once() -> None:
    """Without the minutes in which more must matter."""
    scenario = alive()
    scenario.control(Muted())

    assert applied(scenario.control(Muted(off=True))) == "quiet no longer"

    assert closed(happens(scenario, salience={"novelty": 0.1})) is None
    assert not scenario.mind.executive.peace.restraints


def test_quiet_lets_alerts_and_whoever_asked_for_it_through() -> None:
    """Of another person's words it does not, unless nobody knows who speaks."""
    scenario = alive()
    scenario.control(Muted(by="ana"))

    assert closed(happens(scenario, **THREAT)) is None
    assert closed(says(scenario, person="ana")) is None
    assert closed(says(scenario)) is None
    assert closed(says(scenario, person="bo")) == "quiet"
    assert closed(happens(scenario)) == "quiet"


def test_quiet_that_nobody_in_particular_asked_for_lets_all_words_through() -> None:
    """As the command has it, if no person is named."""
    scenario = alive()
    scenario.control(Muted())

    decided = says(scenario, person="bo")

    assert closed(decided) is None
    assert gate(decided, "quiet") == Gate(
        name="quiet", passed=True, note="a person's words always pass"
    )


def test_a_mute_lets_nothing_through_until_it_is_taken_back() -> None:
    """Not even an alert, nor an answer to the one who asked for it."""
    scenario = alive()
    assert applied(scenario.control(Muted(mode="mute"))) == "mute until taken back"

    for decided in (
        happens(scenario, **THREAT),
        says(scenario, person="user"),
        happens(scenario, after_s=1e6),
    ):
        assert closed(decided) == "muted"
        kept = gate(decided, "muted")
        assert kept is not None
        assert kept.note == "asked for by user, until taken back"
    scenario.control(Muted(mode="mute", off=True))
    assert closed(happens(scenario)) is None


def test_a_mute_for_a_time_ends_by_itself() -> None:
    """And nothing follows it."""
    scenario = alive()
    scenario.control(Muted(mode="mute", for_s=3_600))

    decided = happens(scenario, after_s=3_500)

    assert closed(decided) == "muted"
    assert "1 min 40 s" in (decided.gates[1].note or "")
    assert closed(happens(scenario, after_s=100, salience={"novelty": 0.1})) is None


def test_a_person_is_spared_and_others_are_not() -> None:
    """What is for everybody would disturb that person, too."""
    scenario = alive()
    assert applied(scenario.control(Muted(person="ana", mode="mute"))) == (
        "mute for ana until taken back"
    )

    assert closed(happens(scenario, person="ana")) == "muted"
    assert closed(happens(scenario)) == "muted"
    assert closed(happens(scenario, person="bo")) is None
    scenario.control(Muted(person="bo", mode="mute"))
    scenario.control(Muted(person="bo", mode="mute", off=True))
    assert closed(happens(scenario, DUSK, person="bo")) is None
    scenario.control(Muted(mode="mute", off=True))
    assert not scenario.mind.executive.peace.restraints


def test_the_strictest_of_two_quiets_decides() -> None:
    """Each must let an event through."""
    scenario = alive()
    scenario.control(Muted(by="ana"))
    scenario.control(Muted(by="bo", person="ana"))

    assert closed(says(scenario, person="ana")) == "quiet"
    assert len(scenario.mind.executive.peace.restraints) == 2


def test_mutes_are_bounded() -> None:
    """The one that began first goes first."""
    scenario = alive()
    for place in range(limits.RESTRAINTS + 1):
        scenario.control(Muted(person=f"p{place}", mode="mute"))

    held = scenario.mind.executive.peace.restraints
    assert len(held) == limits.RESTRAINTS
    assert held[0].person == "p1"


def test_quiet_is_carried_to_another_clock() -> None:
    """It has the time left that it had."""
    scenario = alive()
    scenario.control(Muted())
    scenario.control(SessionStarted(session_id="s", clock="event"))

    early = scenario.wait(1).decide(LOW, occurred_at="2020-01-01T00:00:00Z")
    late = scenario.decide(
        DUSK, occurred_at="2020-01-01T00:11:00Z", salience={"social": 1}
    )

    assert closed(early) == "quiet"
    assert closed(late) is None


@pytest.mark.parametrize(
    ("hours", "timezone", "is_silent"),
    [
        ("12:00-12:01", "UTC", True),
        ("11:59-12:00", "UTC", False),
        ("22:00-12:01", "UTC", True),
        ("22:00-12:00", "UTC", False),
        # At noon in UTC it is 14:00 in Berlin in May, and 21:00 in Tokyo.
        ("14:00-15:00", "Europe/Berlin", True),
        ("12:00-14:00", "Europe/Berlin", False),
        ("21:00-07:00", "Asia/Tokyo", True),
        ("", "UTC", False),
    ],
)
def test_quiet_hours(hours: str, timezone: str, is_silent: bool) -> None:
    """In the settings' time zone, over midnight as well; the last minute is not in."""
    scenario = alive(quiet_hours=hours, timezone=timezone)
    scenario.at = factories.NOON

    decided = scenario.decide(LOW)

    assert closed(decided) == ("quiet_hours" if is_silent else None)
    kept = gate(decided, "quiet_hours")
    assert (kept is not None) == is_silent
    assert closed(scenario.decide(DUSK, **THREAT)) is None
    assert closed(says(scenario)) is None


def test_an_unknown_time_zone_starts_no_mind() -> None:
    """It is refused, rather than taken for another."""
    scenario = Scenario(executive={"timezone": "Europe/Nowhere"})

    assert names(scenario.turns[0]) == ["ControlRefused"]


def test_four_seconds_lie_between_two_responses() -> None:
    """To the microsecond; alerts and answers to a person need not wait."""
    scenario = alive(cooldown_s=4.0)
    assert happens(scenario).timing == "immediate"

    soon = happens(scenario, DUSK, after_s=3.999999)
    kept = gate(soon, "cooldown")

    assert (soon.timing, soon.final, soon.silence) == ("batched", False, None)
    assert kept is not None
    assert kept.passed
    assert (kept.value, kept.threshold, kept.margin) == (3.999999, 4.0, -1e-06)
    assert happens(scenario, after_s=0.0, **THREAT).timing == "immediate"
    assert says(scenario).final
    later = scenario.wait(4.0).tell(ClockTicked(due_at=scenario.at))
    assert one(later, DeliveryAsked).text == soon.text


def test_thirty_seconds_lie_between_two_answers_of_a_heuristic() -> None:
    """Another may answer meanwhile; a person, or a threat, gets it at once."""
    scenario = alive(heuristic_cooldown_s=30.0)
    assert closed(happens(scenario)) is None

    soon = happens(scenario, after_s=29.999999)
    kept = gate(soon, "heuristic_cooldown")

    assert closed(soon) == "cooldown"
    assert kept is not None
    assert (kept.value, kept.threshold) == (29.999999, 30.0)
    assert closed(happens(scenario, DUSK, after_s=0.0)) is None
    assert closed(happens(scenario, after_s=0.000001)) is None
    assert closed(says(scenario)) is None
    assert closed(happens(scenario, **THREAT)) is None


def test_a_rested_heuristic_gives_way_to_another_that_fits() -> None:
    """What answered just now is on record as not eligible, with the reason."""
    twins = pack(
        heuristic("low", "food is low", "Eat now.", 0.8),
        heuristic("lower", "food is low again", "Find food.", 0.8),
    )
    scenario = Scenario(twins, relevance=0.0, executive={"heuristic_cooldown_s": 30.0})

    first, second = happens(scenario), happens(scenario)

    assert (first.text, second.text) == ("Eat now.", "Find food.")
    (rested,) = (each for each in second.candidates if not each.eligible)
    assert rested.reason == "cooldown"


def test_only_so_many_responses_an_hour() -> None:
    """Alerts and answers to a person are counted, and never held back."""
    scenario = alive(rate_per_hour=2)
    spoken = [closed(happens(scenario, each, after_s=60)) for each in (LOW, DUSK, LOW)]
    third = happens(scenario, DUSK, after_s=60)

    assert spoken == [None, None, "rate"]
    kept = gate(third, "rate")
    assert kept is not None
    assert (kept.value, kept.threshold) == (0.0, 1.0)
    assert kept.note == "2 of 2 responses in the last hour"
    # One hour after the first of them, which is then no longer counted.
    assert closed(happens(scenario, after_s=3_600 - 180 - 1e-6)) == "rate"
    assert closed(happens(scenario, DUSK, after_s=1e-6)) is None
    assert closed(says(scenario)) is None
    assert closed(happens(scenario, **THREAT)) is None


def test_gates_stand_in_their_order() -> None:
    """Whoever is muted is told that, and not that it was too soon."""
    scenario = alive(cooldown_s=4, rate_per_hour=1, quiet_hours="00:00-23:59")
    happens(scenario, **THREAT)
    scenario.control(Muted())
    scenario.control(Muted(mode="mute"))

    decided = happens(scenario)

    assert [each.name for each in decided.gates] == [
        "intent", "muted", "quiet", "quiet_hours", "relevance", "habituation",
        "cooldown", "rate",
    ]  # fmt: skip
    assert closed(decided) == "muted"
    informs = happens(scenario, intent="informational")
    assert [each.name for each in informs.gates] == ["intent"]


def asking(**executive: Any) -> tuple[Scenario, Turn]:
    """A scenario whose model was asked a moment ago."""
    scenario = Scenario(relevance=0.0, model=factories.MODEL, executive=executive)
    return scenario, scenario.sense("something new")


@pytest.mark.parametrize(
    ("control", "reason"),
    [(Muted(), "quiet"), (Muted(mode="mute"), "muted"), (None, None)],
)
def test_what_was_asked_before_is_not_said_after(
    control: Muted | None, reason: str | None
) -> None:
    """An answer of the model that comes when it is quiet is dropped, with the reason."""
    scenario, asked = asking()
    if control is not None:
        scenario.control(control)

    turn = scenario.wait(1).answer_model(asked)

    assert bool(said(turn, Completed)) == (reason is None)
    assert bool(said(turn, DeliveryAsked)) == (reason is None)
    assert [each.reason for each in said(turn, Dropped)] == ([reason] if reason else [])


def test_two_answers_of_the_model_do_not_come_at_once() -> None:
    """The later one waits; an alert, or one to a person's words, does not."""
    scenario, first = asking(cooldown_s=4.0)
    second = scenario.sense("quite another thing")
    words = scenario.sense("what is it", source="user", type_="message")
    alert = scenario.sense("it burns there", **THREAT)
    last = scenario.sense("one more of them")

    said(scenario.wait(1).answer_model(first), Completed)
    held = one(scenario.wait(1).answer_model(second), Held)

    assert (held.timing, held.due_at) == ("batched", scenario.at + timedelta(seconds=3))
    assert said(scenario.answer_model(words), Completed)
    assert said(scenario.answer_model(alert), Completed)
    assert said(scenario.wait(4).answer_model(last), Completed)
