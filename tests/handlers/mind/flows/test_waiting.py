"""Answers that wait: for a break, for a lull, and as one with others of their kind."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.mind.flows import waiting
from handlers.mind.turn import Turn
from schemas.codec.catalogue import ControlMessage
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen, HeuristicSeeded
from schemas.messages.decisions import Completed, Decided, Dropped, Held, HeuristicFired
from schemas.messages.executive import (
    BreakSignalled,
    Muted,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.messages.notes import ControlInferred, TimerFailed
from schemas.packs.compiled import CompiledPack
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.handlers.mind.test_containment import boom, put
from tests.scenario import Scenario, decision_id, names, one, said

ON = plain_executive(timing=True)
BUSY = UserStateChanged(busy=True)
FREE = UserStateChanged(busy=False)

LAUNDRY = heuristic(
    "wash", "the washing machine is done", "Hang up the laundry.", confidence=0.9
)


def home(*, type_: str = "suggestion", ttl_s: float = 300.0) -> CompiledPack:
    """A pack that knows what to say of a washing machine."""
    return pack(
        LAUNDRY | {"action": {"text": "Hang up the laundry.", "type": type_}},
        events=[{"type": each, "means": each} for each in ("user_state", "break")],
        ttl_s=ttl_s,
    )


def start(compiled: CompiledPack | None = None, **settings: Any) -> Scenario:
    """A scenario with answers that may wait."""
    # So low a threshold that habituation silences nothing here.
    own: dict[str, Any] = {"executive": ON, "relevance": 0.01}
    return Scenario(compiled or home(), **own, **settings)


def done(
    scenario: Scenario, text: str = "the washing machine is done", **fields: Any
) -> Turn:
    """The event that the pack answers."""
    return scenario.sense(text, **{"salience": {"social": 0.9}, **fields})


def test_an_answer_waits_while_the_person_is_busy_and_is_said_at_a_break() -> None:
    """It is decided at once, and its fire and delivery come with the break."""
    scenario = start()
    scenario.control(BUSY)
    held = done(scenario)
    said_at_break = scenario.wait(20).control(BreakSignalled(signal="menu_closed"))

    assert names(held) == ["Decided", "Held"]
    decided = one(held, Decided)
    assert (decided.timing, decided.final) == ("queued", False)
    assert names(said_at_break) == [
        "ControlApplied",
        "HeuristicFired",
        "Completed",
        "DeliveryAsked",
    ]
    assert one(said_at_break, Completed).decision_id == decision_id(held)
    assert one(said_at_break, DeliveryAsked).text == "Hang up the laundry."
    assert one(said_at_break, DeliveryAsked).ttl_s == 280.0
    assert scenario.mind.executive.waiting == ()
    assert all(each.purpose != "held" for each in scenario.mind.timers)


def test_it_is_said_once_the_person_is_free() -> None:
    """No break is needed where nobody is busy any more."""
    scenario = start()
    scenario.control(BUSY)
    done(scenario)

    assert "DeliveryAsked" in names(scenario.control(FREE))


@pytest.mark.parametrize(("state", "lapses_s"), [("typing", 1_200), ("busy", 7_200)])
def test_what_a_person_does_lapses_by_itself(state: str, lapses_s: float) -> None:
    """A sensor said it once; what waited for it is said as soon as it is over."""
    scenario = start(home(ttl_s=10_000.0))
    scenario.control(UserStateChanged.from_fields({"person": "ana", state: True}))
    held = done(scenario, person="ana")
    assert one(held, Held).timing == "queued"

    early = scenario.wait(lapses_s - 1).sense("tick", intent="informational")
    late = scenario.wait(1).sense("tick", intent="informational")

    assert said(early, DeliveryAsked) == []
    assert one(late, DeliveryAsked).text == "Hang up the laundry."


def test_what_is_said_again_does_not_lapse() -> None:
    """Each time counts anew; what waits meanwhile goes on waiting."""
    scenario = start(home(ttl_s=10_000.0))
    for wait_s in (0, 1_000, 1_000):
        scenario.wait(wait_s).control(UserStateChanged(person="ana", typing=True))
        if not wait_s:
            done(scenario, person="ana")

    assert said(scenario.wait(1_199).sense("tick"), DeliveryAsked) == []
    assert len(said(scenario.wait(1).sense("tick"), DeliveryAsked)) == 1


@pytest.mark.parametrize("person", ["ana", None])
def test_a_pause_ends_the_typing_that_it_is_of(person: str | None) -> None:
    """What comes after it does not wait; another break ends no typing."""
    scenario = start()
    scenario.control(UserStateChanged(person="ana", typing=True))
    scenario.control(BreakSignalled(person=person, signal="asked"))
    assert len(said(done(scenario, person="ana"), Held)) == 1
    told = scenario.control(BreakSignalled(person=person, signal="typing_paused"))

    assert len(said(told, DeliveryAsked)) == 1
    assert not scenario.mind.executive.presence.people["ana"].typing
    assert len(said(done(scenario.wait(60), person="ana"), DeliveryAsked)) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"urgency": 0.7},
        {"salience": {"threat": 0.8}},
        {"source": "user", "type_": "message"},
    ],
    ids=["urgent", "a threat", "a person's own words"],
)
def test_what_is_urgent_or_asked_for_does_not_wait(fields: dict[str, Any]) -> None:
    """Whatever the person is doing."""
    scenario = start()
    scenario.control(BUSY)
    if fields.get("source") == "user":
        scenario = start(pack(LAUNDRY, types=["message"]))
        scenario.control(BUSY)

    turn = done(scenario, **fields)

    assert one(turn, Decided).timing == "immediate"
    assert "DeliveryAsked" in names(turn)


def test_urgency_just_below_waits() -> None:
    """The limit is 0.7."""
    scenario = start()
    scenario.control(BUSY)

    assert one(done(scenario, urgency=0.69), Decided).timing == "queued"


def test_what_is_stale_is_dropped_with_the_reason() -> None:
    """Its time to live runs while it waits."""
    scenario = start(home(ttl_s=60.0))
    scenario.control(BUSY)
    held = done(scenario)
    late = scenario.wait(61).sense("nothing much", type_="other", source="else")

    dropped = one(late, Dropped)
    assert (dropped.reason, dropped.decision_id) == ("stale", decision_id(held))
    assert said(late, DeliveryAsked) == []


def test_five_related_events_make_one_response() -> None:
    """The lead's; the others end as batched into it, and each heuristic fires."""
    scenario = start()
    scenario.control(BUSY)
    turns = [done(scenario.wait(1)) for _ in range(5)]
    turn = scenario.control(BreakSignalled())

    most = max(turns, key=lambda each: one(each, Held).answer.priority)
    others = {decision_id(each) for each in turns} - {decision_id(most)}
    completed = one(turn, Completed)
    assert completed.decision_id == decision_id(most)
    assert set(completed.also_answers) == others
    assert [each.text for each in said(turn, DeliveryAsked)] == ["Hang up the laundry."]
    assert {(each.reason, each.decision_id) for each in said(turn, Dropped)} == {
        ("batched", each) for each in others
    }
    assert len(said(turn, HeuristicFired)) == 5


def test_what_is_for_another_person_is_not_said_with_it() -> None:
    """Each hears what is for each; a break of one is none of the other."""
    scenario = start()
    scenario.control(UserStateChanged(busy=True, person="ada"))
    scenario.control(UserStateChanged(busy=True, person="lee"))
    for_ada, _ = done(scenario, person="ada"), done(scenario, person="lee")
    turn = scenario.control(BreakSignalled(person="ada"))

    assert one(turn, Completed).decision_id == decision_id(for_ada)
    assert len(scenario.mind.executive.waiting) == 1


def test_what_waits_is_not_said_once_somebody_asked_for_quiet() -> None:
    """It ends with that as its reason."""
    scenario = start()
    scenario.control(BUSY)
    done(scenario)
    scenario.control(Muted())

    turn = scenario.control(FREE)

    assert one(turn, Dropped).reason == "quiet"
    assert said(turn, DeliveryAsked) == []


def test_what_is_for_nobody_in_particular_waits_until_somebody_can_hear_it() -> None:
    """One asleep and one away: it is said when either of them is there again."""
    scenario = start()
    scenario.control(UserStateChanged(asleep=True, person="ada"))
    scenario.control(UserStateChanged(away=True, person="ben"))
    held = done(scenario)
    turn = scenario.control(UserStateChanged(away=False, person="ben"))

    assert one(held, Decided).timing == "queued"
    assert one(turn, Completed).decision_id == decision_id(held)


def test_small_talk_waits_for_a_lull() -> None:
    """Until nobody has spoken for 15 seconds."""
    scenario = start(home(type_="quip"))
    scenario.sense("hello", source="user", type_="message")
    turn = done(scenario.wait(5))
    assert one(turn, Decided).timing == "deferred"
    assert one(turn, Held).due_at == scenario.at + timedelta(seconds=10)

    later = scenario.wait(10).sense("tick", source="else")

    assert "DeliveryAsked" in names(later)


def test_an_enthusiastic_companion_does_not_wait_for_a_lull() -> None:
    """If it matters much; a busy person it lets be all the same."""
    scenario = start(home(type_="quip"))
    scenario.control(TraitAdjusted(trait="enthusiasm", by_amount=0.2))
    scenario.sense("hello", source="user", type_="message")
    keen = {"opportunity": 0.9, "social": 0.9}

    assert "DeliveryAsked" in names(done(scenario.wait(5), salience=keen))
    scenario.control(BUSY)
    assert one(done(scenario.wait(500), salience=keen), Decided).timing == "queued"


def test_a_lull_of_a_busy_person_is_no_lull() -> None:
    """Then it waits for a break, and no longer than it lives."""
    scenario = start(home(type_="quip"))
    scenario.sense("hello", source="user", type_="message")
    done(scenario.wait(5))
    scenario.control(BUSY)
    turn = scenario.wait(10).sense("tick", source="else")

    assert one(turn, Held).timing == "queued"
    assert "DeliveryAsked" in names(scenario.control(FREE))


def test_a_models_answer_waits_as_well() -> None:
    """It is asked at once, so that the answer is at hand at the break."""
    scenario = start(pack(), model=factories.MODEL)
    scenario.control(BUSY)
    asked = scenario.sense("something new", salience={"opportunity": 0.9}, ttl_s=120.0)
    heard = scenario.answer_model(asked, "Nice.")
    turn = scenario.wait(5).control(BreakSignalled())

    assert names(heard) == ["Handled", "Held"]
    assert (one(turn, Completed).path, one(turn, Completed).text) == ("llm", "Nice.")
    assert one(turn, DeliveryAsked).text == "Nice."
    assert scenario.mind.pending == {} or len(scenario.mind.pending) == 0


def test_a_sensor_may_tell_what_a_person_does() -> None:
    """Where its pack declares so, as what the mind infers."""
    scenario = start()
    told = scenario.sense("typing", type_="user_state", fields={"typing": True})
    held = done(scenario)
    turn = scenario.sense("stopped", type_="break", fields={"signal": "typing_paused"})

    inferred = one(told, ControlInferred)
    assert (inferred.control, inferred.by) == ("user_state_changed", "rule")
    assert one(held, Decided).timing == "queued"
    assert "DeliveryAsked" in names(turn)


def test_a_field_that_does_not_fit_leaves_the_others() -> None:
    """Else somebody whose sensor writes one of them wrongly would be busy for ever."""
    scenario = start()
    scenario.sense(
        "call", type_="user_state", fields={"busy": True, "activity": "call"}
    )
    told = {"busy": False, "activity": "", "typing": "perhaps"}
    over = scenario.sense("over", type_="user_state", fields=told)

    assert one(over, ControlInferred).fields == {"by": "game", "busy": False}
    assert not scenario.mind.executive.presence.people[""].busy


def test_no_more_wait_than_fit() -> None:
    """The least urgent gives way, and its decision says so."""
    scenario = start()
    scenario.control(BUSY)
    turns = [
        done(scenario.wait(1), person=f"p{place}", entities=[f"e{place}"])
        for place in range(33)
    ]
    # Busy everywhere: nobody was named.
    assert len(scenario.mind.executive.waiting) == 32
    assert one(turns[-1], Dropped).reason == "superseded"


def test_all_that_is_about_one_thing_is_said() -> None:
    """Of four none is left out, and each was shown."""
    known = [
        heuristic(f"h{place}", f"{word} in the cellar", f"Mind the {word}.", 0.9)
        for place, word in enumerate(("leak", "light", "mouse", "smell"))
    ]
    scenario = start(pack(*known, ttl_s=300.0))
    scenario.control(BUSY)
    for word in ("leak", "light", "mouse", "smell"):
        done(scenario.wait(1), f"{word} in the cellar", entities=["cellar"])
    turn = scenario.control(BreakSignalled())

    words = one(turn, DeliveryAsked).text
    assert len(said(turn, HeuristicFired)) == words.count("Mind the") == 4
    assert len(one(turn, Completed).also_answers) == 3


def test_a_wait_that_fails_ends_its_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be it a heuristic's answer or a model's, nothing of it is left."""
    scenario = start(pack(LAUNDRY, ttl_s=60.0), model=factories.MODEL)
    scenario.may_fail = True
    scenario.control(BUSY)
    asked = scenario.sense("something new", salience={"social": 0.9}, ttl_s=60.0)
    scenario.answer_model(asked, "Nice.")
    held = done(scenario)
    put(monkeypatch, waiting, "run", boom)
    turn = scenario.wait(61).sense("tick", source="else", intent="informational")

    ended = {each.decision_id: each.reason for each in said(turn, Dropped)}
    assert ended == {decision_id(each): "error" for each in (asked, held)}
    assert len(said(turn, TimerFailed)) == 2
    assert not scenario.mind.timers
    assert not scenario.mind.pending
    assert scenario.mind.executive.waiting == ()


LAUNDRY_ID, WITHOUT = home().ids[0], pack(heuristic("x", "it rains", "Rain."))
WITHDRAWN: tuple[tuple[str, ControlMessage, str], ...] = (
    ("frozen", HeuristicFrozen(heuristic_id=LAUNDRY_ID), "frozen meanwhile"),
    ("its pack is another", factories.pack_loaded(WITHOUT), "in force no more"),
    (
        "its words are others",
        factories.pack_loaded(home(type_="question")),
        "changed meanwhile",
    ),
)


@pytest.mark.parametrize(
    ("control", "why"), [each[1:] for each in WITHDRAWN], ids=[e[0] for e in WITHDRAWN]
)
def test_what_a_heuristic_had_ready_goes_with_it(
    control: ControlMessage, why: str
) -> None:
    """Nothing is said, nothing fires, and the end of the decision tells why."""
    scenario = start()
    for compiled in (WITHOUT, home(type_="question")):
        scenario.blobs[compiled.digest] = compiled
    scenario.control(BUSY)
    held = done(scenario)
    agent = None if isinstance(control, HeuristicFrozen) else SHARED_AGENT
    scenario.control(control, agent=agent)
    at_break = scenario.wait(20).control(BreakSignalled())
    dropped = one(at_break, Dropped)

    assert names(at_break) == ["ControlApplied", "Dropped"]
    assert (dropped.decision_id, dropped.reason) == (decision_id(held), "cancelled")
    assert why in dropped.detail
    assert scenario.mind.executive.waiting == ()


def test_one_that_is_released_before_the_break_is_said() -> None:
    """What counts is what holds when it would be said."""
    scenario = start()
    scenario.control(BUSY)
    done(scenario)
    scenario.control(HeuristicFrozen(heuristic_id=LAUNDRY_ID))
    scenario.control(HeuristicFrozen(heuristic_id=LAUNDRY_ID, frozen=False))

    assert "HeuristicFired" in names(scenario.wait(20).control(BreakSignalled()))


@pytest.mark.parametrize("keep", [False, True])
def test_an_edited_one_does_not_say_its_old_words(keep: bool) -> None:
    """Whether or not the new ones inherit what was earned."""
    scenario = start()
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="h",
            domain="garden",
            condition="the washing machine is done",
            text="Hang it up.",
            confidence=0.95,
        )
    )
    scenario.control(BUSY)
    held = one(done(scenario), Held)
    edited = HeuristicEdited(
        heuristic_id=held.answer.matched_heuristic_id or "", text="Dry it.", keep=keep
    )
    scenario.control(edited)
    at_break = scenario.wait(20).control(BreakSignalled())

    assert held.answer.text == "Hang it up."
    assert one(at_break, Dropped).reason == "cancelled"
    assert "changed meanwhile" in one(at_break, Dropped).detail
