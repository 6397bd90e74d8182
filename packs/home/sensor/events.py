"""What the home's sensors tell, one function for each sort of event.

Times, people and what they mean are the simulation's; here are words, fields and hints.
What happens by itself is an occasion to speak. Where somebody is and what somebody does is
information, which the mind records and never answers.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from schemas.messages.sensing import Dimension, Fields, Sensed

Salience = Mapping[Dimension, float]

# A dimension without a hint is taken from the manifest, and novelty is computed.
_PRESSING: Salience = {"threat": 0.9, "actionability": 0.9}
_USEFUL: Salience = {"goal_relevance": 0.7, "actionability": 0.8}
_MILD: Salience = {"goal_relevance": 0.6, "actionability": 0.5}
_TRIVIAL: Salience = {"goal_relevance": 0.2, "actionability": 0.1}


def told(
    type_: str,
    text: str,
    *,
    person: str | None = None,
    salience: Salience | None = None,
    urgency: float | None = None,
    ttl_s: float | None = None,
    about: tuple[str, ...] = (),
    **fields: Any,
) -> Sensed:
    """Return an event, about a person if one is named."""
    of = {"person": person} if person else {}
    return Sensed(
        type=type_,
        text=text,
        fields={**of, **fields},
        person=person,
        entities=(*of.values(), *about),
        salience=dict(salience or {}),
        urgency=urgency,
        ttl_s=ttl_s,
    )


def noted(type_: str, text: str, *, person: str | None = None, **fields: Any) -> Sensed:
    """Return an event that only informs."""
    event = told(type_, text, person=person, **fields)
    return replace(event, intent="informational")


def presence(person: str, room: str) -> Sensed:
    """Somebody is in another room; `out` is none of them."""
    where = "left the house" if room == "out" else f"is in the {room}"
    return noted("presence_changed", f"{_name(person)} {where}.",
        person=person, room=room, away=room == "out")  # fmt: skip


def state(person: str, text: str, **changes: object) -> Sensed:
    """Somebody is busy, types, sleeps or is away, or is so no more."""
    return noted("user_state", f"{_name(person)} {text}.", person=person, **changes)


def pause(person: str, signal: str) -> Sensed:
    """Somebody has a natural break: what waited for one may be said."""
    words = signal.replace("_", " ")
    return noted("break", f"{_name(person)}: {words}.", person=person, signal=signal)


def message(person: str, words: str, truth: Fields | None = None) -> Sensed:
    """Somebody says something to the companion; `truth` is what is meant by it."""
    event = told("message", words, person=person)
    return replace(event, evaluation_data=truth)


def came(person: str, *, guest: bool) -> Sensed:
    """Somebody comes in."""
    return told("person_arrived", f"{_name(person)} has come in.", person=person,
        salience={"social": 0.9, "opportunity": 0.6}, guest=guest)  # fmt: skip


def goes(person: str, open_windows: int, *, last: bool) -> Sensed:
    """Somebody is at the door, about to go out."""
    windows = f"; {_windows(open_windows)} open" if open_windows else ""
    useful = last and open_windows > 0
    return told("person_leaving", f"{_name(person)} is about to go out{windows}.",
        person=person, salience=_USEFUL if useful else _TRIVIAL, urgency=0.6,
        ttl_s=60, open_windows=open_windows, last=last)  # fmt: skip


def door(by: str, *, is_open: bool) -> Sensed:
    """Somebody opens or closes the front door."""
    what = "opened" if is_open else "closed"
    return told("door_changed", f"The front door was {what} by {_name(by)}.",
        salience=_TRIVIAL, about=("front-door",), open=is_open, by=by)  # fmt: skip


def door_left_open(minutes: int) -> Sensed:
    """The front door stands open, and nobody goes through."""
    return told("door_left_open",
        f"The front door has been standing open for {minutes} minutes.",
        salience=_USEFUL, urgency=0.6, ttl_s=120, about=("front-door",),
        minutes=minutes)  # fmt: skip


def door_unlocked() -> Sensed:
    """Everybody goes to bed, and the front door is not locked."""
    return told("door_unlocked",
        "Everybody is going to bed and the front door is not locked.",
        salience=_USEFUL, urgency=0.5, ttl_s=300, about=("front-door",))  # fmt: skip


def door_locked(by: str) -> Sensed:
    """Somebody locks the front door."""
    return told("door_locked", f"The front door was locked by {_name(by)}.",
        salience=_TRIVIAL, about=("front-door",), by=by)  # fmt: skip


def doorbell() -> Sensed:
    """Somebody is at the door."""
    return told("doorbell", "The doorbell rings: somebody is at the front door.",
        salience={"opportunity": 0.9, "actionability": 0.9, "social": 0.6},
        urgency=0.9, ttl_s=60, about=("front-door",))  # fmt: skip


def window(room: str, by: str, *, is_open: bool) -> Sensed:
    """Somebody opens or closes a window."""
    what = "opened" if is_open else "closed"
    return told("window_changed",
        f"The window of the {room} was {what} by {_name(by)}.",
        salience=_TRIVIAL, about=(f"{room}-window",), room=room, open=is_open,
        by=by)  # fmt: skip


def window_at_risk(room: str, minutes: int) -> Sensed:
    """A window is open and rain is near."""
    return told("window_at_risk",
        f"The window of the {room} is open and rain is {minutes} minutes away.",
        salience=_USEFUL, urgency=0.5, ttl_s=600, about=(f"{room}-window", "rain"),
        room=room, minutes=minutes)  # fmt: skip


def weather(sky: str, celsius: int) -> Sensed:
    """The weather is another."""
    return told("weather_changed", f"Outside it is {sky} now, {celsius} degrees.",
        salience=_MILD, about=("weather",), sky=sky, celsius=celsius)  # fmt: skip


def warning(minutes: int, open_windows: int) -> Sensed:
    """A thunderstorm is announced."""
    return told("weather_warning",
        f"A thunderstorm is {minutes} minutes away; {_windows(open_windows)} open.",
        salience=_USEFUL, urgency=0.5, ttl_s=900, about=("rain",), minutes=minutes,
        open_windows=open_windows)  # fmt: skip


def rain(open_windows: int, celsius: int, *, anybody_home: bool) -> Sensed:
    """It begins to rain."""
    windows = f"; {_windows(open_windows)} open" if open_windows else ""
    return told("rain_began", f"It begins to rain{windows}.",
        salience=_USEFUL if open_windows else _TRIVIAL,
        urgency=0.6 if open_windows else 0.1, ttl_s=600, about=("rain",),
        open_windows=open_windows, celsius=celsius,
        anybody_home=anybody_home)  # fmt: skip


def rain_over() -> Sensed:
    """It rains no more."""
    return told("rain_ended", "The rain is over.", salience=_TRIVIAL, about=("rain",))


def wet(room: str) -> Sensed:
    """It has rained in through an open window."""
    return told("rain_came_in",
        f"Rain came in through the open window of the {room}.",
        salience=_TRIVIAL, about=(f"{room}-window", "rain"), room=room)  # fmt: skip


def reading(inside: float, outside: float) -> Sensed:
    """The thermostat tells how warm it is."""
    return noted("reading", f"It is {inside:g} degrees inside, {outside:g} outside.",
        inside=inside, outside=outside)  # fmt: skip


def oven(by: str, *, on: bool, celsius: int = 0) -> Sensed:
    """Somebody switches the oven on or off."""
    what = f"switched on at {celsius} degrees" if on else "switched off"
    return told("oven_changed", f"The oven was {what} by {_name(by)}.",
        salience=_TRIVIAL, about=("oven",), on=on, by=by, celsius=celsius)  # fmt: skip


def oven_ready(celsius: int) -> Sensed:
    """The oven is as hot as it was set."""
    return told("oven_ready", f"The oven has reached its {celsius} degrees.",
        salience=_USEFUL, urgency=0.4, ttl_s=180, about=("oven",),
        celsius=celsius)  # fmt: skip


def oven_on(minutes: int, by: str, *, kitchen_empty: bool) -> Sensed:
    """The oven is still on, with or without anybody in the kitchen."""
    where = "nobody is in the kitchen" if kitchen_empty else f"{_name(by)} is cooking"
    return told("oven_still_on",
        f"The oven has been on for {minutes} minutes and {where}.",
        salience=_PRESSING if kitchen_empty else _TRIVIAL,
        urgency=0.8 if kitchen_empty else 0.1, ttl_s=300, about=("oven",),
        minutes=minutes, kitchen_empty=kitchen_empty, by=by)  # fmt: skip


def washing(by: str, *, started: bool) -> Sensed:
    """Somebody starts or empties the washing machine."""
    what = "started" if started else "emptied"
    return told(f"washing_{what}", f"The washing machine was {what} by {_name(by)}.",
        salience=_TRIVIAL, about=("washing-machine",), by=by)  # fmt: skip


def washing_finished() -> Sensed:
    """The wash is done."""
    return told("washing_finished", "The washing machine has finished.",
        salience=_USEFUL, urgency=0.2, ttl_s=7200, about=("washing-machine",))  # fmt: skip


def washing_waiting(minutes: int) -> Sensed:
    """The wash is done and still in the machine."""
    return told("washing_waiting",
        f"The finished washing has been in the machine for {minutes} minutes.",
        salience={"goal_relevance": 0.5, "actionability": 0.8}, urgency=0.2,
        ttl_s=3600, about=("washing-machine",), minutes=minutes)  # fmt: skip


def dishwasher_finished() -> Sensed:
    """The dishes are done."""
    return told("dishwasher_finished", "The dishwasher has finished.",
        salience={"goal_relevance": 0.4, "actionability": 0.6}, urgency=0.1,
        ttl_s=7200, about=("dishwasher",))  # fmt: skip


def freezer(*, is_open: bool, minutes: int = 0, by: str = "") -> Sensed:
    """The freezer stands open, or somebody closes it."""
    if is_open:
        return told("freezer_open",
            f"The freezer has been standing open for {minutes} minutes.",
            salience=_PRESSING, urgency=0.8, ttl_s=600,
            about=("freezer",), minutes=minutes)  # fmt: skip
    return told("freezer_closed", f"The freezer was closed by {_name(by)}.",
        salience=_TRIVIAL, about=("freezer",), by=by)  # fmt: skip


def leak(room: str) -> Sensed:
    """Water runs where it should not."""
    return told("leak_detected", f"Water is leaking in the {room}!",
        salience=_PRESSING, urgency=1.0, ttl_s=600, about=("leak",), room=room)  # fmt: skip


def leak_stopped(by: str) -> Sensed:
    """Somebody turns the water off."""
    return told("leak_stopped", f"The water was turned off by {_name(by)}.",
        salience=_TRIVIAL, about=("leak",), by=by)  # fmt: skip


def leave_soon(person: str, title: str, minutes: int) -> Sensed:
    """Somebody has to go, to be in time."""
    return told("leave_soon",
        f"{_name(person)} has to leave in {minutes} minutes for {title}.",
        person=person, salience=_USEFUL, urgency=0.6, ttl_s=60.0 * minutes,
        title=title, minutes=minutes)  # fmt: skip


def due(person: str, title: str, minutes: int, hidden_from: str = "") -> Sensed:
    """An entry of somebody's calendar is near; `hidden_from` are `guests` or a person."""
    hidden: dict[str, Any] = {"hidden_from": hidden_from} if hidden_from else {}
    return told("calendar_due",
        f"Appointment of {_name(person)} in {minutes} minutes: {title}.",
        person=person, salience=_USEFUL, urgency=0.3, ttl_s=60.0 * minutes,
        title=title, minutes=minutes, **hidden)  # fmt: skip


def report(action: str, decision_id: str, outcome: str, reason: str) -> Sensed:
    """Tell what became of advice when nothing else shows it."""
    event = told("action_reported", f"{action.capitalize()}: {outcome}, {reason}.",
        action=action)  # fmt: skip
    return answering(event, decision_id, outcome, reason)


def answering(event: Sensed, decision_id: str, outcome: str, reason: str) -> Sensed:
    """Return the event as the report on a decision."""
    changes = {"in_reply_to": decision_id, "outcome": outcome, "reason": reason}
    return replace(event, **changes)


def _name(person: str) -> str:
    return person.capitalize()


def _windows(count: int) -> str:
    return "1 window is" if count == 1 else f"{count} windows are"
