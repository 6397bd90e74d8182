"""Who hears what is said aloud: secrets, people who are away, sleepers, an empty house."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed, Decided, Dropped, Held
from schemas.messages.executive import BreakSignalled, UserStateChanged
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import Pack, to_blob
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, names, one, said

ON = plain_executive(timing=True)
PEOPLE = [{"name": "ada", "channel": "phone-ada"}, {"name": "ben"}]
TYPE: dict[str, Any] = {"type": "thing", "hidden_from": "hidden_from", "ttl_s": 300}


def home(kind: str = "suggestion", **more: Any) -> CompiledPack:
    """A home of two, where Ada alone has a channel of her own."""
    rain = heuristic("rain", "rain comes in", "Close it.", confidence=0.9)
    action: dict[str, Any] = {"text": "Close it.", "type": kind}
    own: dict[str, Any] = {"people": PEOPLE, "events": [TYPE], **more}
    return pack(rain | {"action": action}, types=["vital"], **own)


def start(compiled: CompiledPack | None = None, **executive: Any) -> Scenario:
    """A home with Ada and Ben in it."""
    settings = ON.model_copy(update=executive)
    scenario = Scenario(compiled or home(), executive=settings, relevance=0.01)
    for person in ("ada", "ben"):
        is_(scenario, person, away=False)
    return scenario


def is_(scenario: Scenario, person: str, **state: Any) -> Turn:
    """Somebody does something."""
    return scenario.control(UserStateChanged(person=person, **state))


def rains(scenario: Scenario, urgency: float = 0.6, **fields: Any) -> Turn:
    """What the pack answers."""
    return scenario.sense(
        "rain comes in",
        type_="thing",
        urgency=urgency,
        salience={"social": 0.9},
        **fields,
    )


def channel(turn: Turn) -> str:
    """Where something was said."""
    return one(turn, DeliveryAsked).channel


def test_what_all_may_hear_is_said_aloud() -> None:
    """With everybody there and awake the usual channel serves."""
    scenario = start()

    assert channel(rains(scenario)) == scenario.settings.channel
    held = home()
    assert b"hidden_from" in to_blob(held.pack)
    assert b"people" not in to_blob(Pack.model_validate({"schema": 1, "name": "x",
        "version": "1", "events": [{"type": "thing"}]}))  # fmt: skip


def test_a_secret_goes_to_the_phone_of_whom_it_concerns() -> None:
    """And aloud once the other is out."""
    scenario = start()
    secret: dict[str, Any] = {"person": "ada", "fields": {"hidden_from": "ben"}}

    turn = rains(scenario, **secret)
    assert channel(turn) == "phone-ada"
    assert one(turn, Decided).hearing == "overheard"
    is_(scenario, "ben", away=True)
    assert channel(rains(scenario, **secret)) == scenario.settings.channel


def test_a_secret_without_a_phone_waits_until_the_other_is_out() -> None:
    """It is dropped as stale if that takes too long."""
    scenario = start()
    secret: dict[str, Any] = {"person": "ben", "fields": {"hidden_from": "ada"}}
    first = rains(scenario, urgency=0.9, **secret)
    out = is_(scenario.wait(60), "ada", away=True)
    is_(scenario, "ada", away=False)
    second = rains(scenario.wait(60), **secret)
    (held,) = scenario.mind.executive.waiting
    late = scenario.wait(400).tell(ClockTicked(due_at=held.due))

    assert one(first, Decided).timing == "queued"
    assert one(first, Held).answer.hidden_from == ("ada",)
    assert one(out, DeliveryAsked).channel == scenario.settings.channel
    assert one(second, Decided).timing == "queued"
    assert one(late, Dropped).reason == "stale"


def test_guests_are_all_whom_no_pack_declares() -> None:
    """A pill is no matter for them, and residents may hear of it."""
    scenario = start()
    pill: dict[str, Any] = {"person": "ada", "fields": {"hidden_from": "guests"}}

    assert channel(rains(scenario, **pill)) == scenario.settings.channel
    is_(scenario, "cleo", away=False)
    assert channel(rains(scenario, **pill)) == "phone-ada"
    is_(scenario, "cleo", away=True)
    assert channel(rains(scenario, **pill)) == scenario.settings.channel


def test_what_is_secret_is_not_said_with_what_is_not() -> None:
    """Both waited for the same break, and are about one thing."""
    scenario = start()
    is_(scenario, "ada", busy=True)
    held = rains(scenario, person="ada", fields={"hidden_from": "ben"})
    rains(scenario, person="ada")
    free = is_(scenario.wait(20), "ada", busy=False)

    # It waited for her alone.
    assert one(held, Decided).hearing is None
    told = said(free, DeliveryAsked)
    assert sorted(each.channel for each in told) == sorted(
        ["phone-ada", scenario.settings.channel]
    )
    assert [each.also_answers for each in said(free, Completed)] == [(), ()]


@pytest.mark.parametrize(
    ("urgency", "left", "expected"),
    [
        (0.6, ("ben", "ada"), "phone-ada"),
        # Ben left last, but has no channel of his own.
        (0.6, ("ada", "ben"), "phone-ada"),
        (0.4, ("ben", "ada"), None),
        (0.9, ("ben", "ada"), "phone-ada"),
    ],
)
def test_an_empty_house_is_told_nothing(
    urgency: float, left: tuple[str, ...], expected: str | None
) -> None:
    """Who is away is told what matters; the rest waits for somebody."""
    scenario = start()
    for person in left:
        is_(scenario.wait(5), person, away=True)
    turn = rains(scenario, urgency)
    back = is_(scenario.wait(30), "ben", away=False)

    if expected is not None:
        assert channel(turn) == expected
        assert "DeliveryAsked" not in names(back)
    else:
        assert names(turn) == ["Decided", "Held"]
        assert channel(back) == scenario.settings.channel


def test_the_one_who_left_last_is_not_told_what_is_hidden_from_them() -> None:
    """A phone is read by its owner, however empty the house is."""
    scenario = start()
    for person in ("ben", "ada"):
        is_(scenario, person, away=True)

    assert channel(rains(scenario)) == "phone-ada"
    hidden = rains(scenario, fields={"hidden_from": "ada"})
    assert names(hidden) == ["Decided", "Held"]
    assert one(hidden, Decided).hearing == "nobody_there"


def test_who_is_away_is_told_what_concerns_them_by_phone() -> None:
    """But for small talk, which waits."""
    for kind, expected in (("suggestion", "phone-ada"), ("check_in", None)):
        scenario = start(home(kind))
        is_(scenario, "ada", away=True)
        turn = rains(scenario, 0.1, person="ada")
        channels = [each.channel for each in said(turn, DeliveryAsked)]
        assert channels == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("urgency", "salience", "is_said"),
    [(0.6, 0.0, False), (0.7, 0.0, True), (0.1, 0.9, True)],
)
def test_one_sleeper_is_not_woken_but_for_what_is_urgent(
    urgency: float, salience: float, is_said: bool
) -> None:
    """Though another is awake; it is said once nobody sleeps."""
    scenario = start()
    is_(scenario, "ben", asleep=True)
    turn = scenario.sense(
        "rain comes in",
        type_="thing",
        urgency=urgency,
        salience={"social": 0.9, "threat": salience},
    )
    woken = is_(scenario.wait(30), "ben", asleep=False)

    assert ("DeliveryAsked" in names(turn)) is is_said
    assert one(turn, Decided).hearing == (None if is_said else "asleep")
    assert ("DeliveryAsked" in names(woken)) is not is_said


@pytest.mark.parametrize("state", ["busy", "typing", "in_menu"])
@pytest.mark.parametrize(("urgency", "waits"), [(0.6, True), (0.7, False)])
def test_what_all_hear_waits_for_whoever_is_in_a_call(
    state: str, urgency: float, waits: bool
) -> None:
    """Though another is free; the break of another is none of theirs."""
    scenario = start()
    is_(scenario, "ben", **{state: True})
    turn = rains(scenario, urgency)
    others = scenario.control(BreakSignalled(person="ada"))
    own = scenario.control(BreakSignalled(person="ben"))

    assert one(turn, Decided).hearing == ("engaged" if waits else None)
    assert ("DeliveryAsked" in names(turn)) is not waits
    assert "DeliveryAsked" not in names(others)
    assert ("DeliveryAsked" in names(own)) is waits


def test_what_is_for_one_person_waits_for_that_person_alone() -> None:
    """And so does all where no pack declares who lives there."""
    for compiled, person in ((home(), "ada"), (home(people=[]), None)):
        scenario = start(compiled)
        is_(scenario, "ben", busy=True)
        assert channel(rains(scenario, person=person)) == scenario.settings.channel


def test_at_the_end_of_one_of_two_calls_it_waits_for_the_other() -> None:
    """It would be heard in that."""
    scenario = start()
    for person in ("ada", "ben"):
        is_(scenario, person, busy=True)
    held = rains(scenario)
    first = is_(scenario.wait(10), "ada", busy=False)
    last = is_(scenario.wait(10), "ben", busy=False)

    assert one(held, Decided).hearing is None
    assert "DeliveryAsked" not in names(first)
    assert channel(last) == scenario.settings.channel


def test_alerts_and_answers_wait_for_nothing() -> None:
    """An alert is said to whoever may hear it; a person's own words are answered there."""
    scenario = start(pack(
        heuristic("rain", "rain comes in", "Close it.", confidence=0.9),
        types=["vital", "message"], people=[{"name": "ada"}],
        events=[{**TYPE, "channel": None}],
    ))  # fmt: skip
    for person in ("ada", "ben"):
        is_(scenario, person, away=True)
    alert = scenario.sense("rain comes in", type_="thing", salience={"threat": 0.9})
    asked = scenario.sense(
        "rain comes in", source="user", type_="message", person="ada"
    )

    assert channel(alert) == channel(asked) == scenario.settings.channel


def test_channels_of_their_own_and_packs_without_people_are_as_ever() -> None:
    """No rule holds where a type names its channel, or where nobody is declared."""
    own = start(home(events=[{**TYPE, "channel": "desk"}]))
    bare = start(home(people=[]))
    for scenario, expected in ((own, "desk"), (bare, bare.settings.channel)):
        for person in ("ada", "ben"):
            is_(scenario, person, asleep=True)
        assert channel(rains(scenario, 0.9)) == expected
