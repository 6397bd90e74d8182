"""The night and the morning: everybody sleeps, gets up, and one goes to work."""

from functools import partial

from packs.home.sensor import events
from packs.home.sensor.plan import DAY_S, Concern, Planner
from schemas.messages.sensing import Fields, Sensed

_ROOMS = ("bathroom", "living-room", "bedroom", "study")


def plan(day: Planner) -> None:
    """Add what happens from midnight until Ada has left."""
    _readings(day)
    _night(day)
    _getting_up(day)
    _breakfast(day)
    _ada_leaves(day)


def _readings(day: Planner) -> None:
    """Add a reading every twenty minutes: one sensor at least is never silent for long."""
    for number, at in enumerate(range(0, DAY_S, 1200)):
        warm = 12 + 6 * (1 - abs(at - 15 * 3600) / (15 * 3600))
        outside = warm + day.between(f"reading {number}", -5, 5) / 10
        day.add(at + 1, events.reading(20.5, round(outside, 1)))


def _night(day: Planner) -> None:
    day.add(0, events.noted("day_began", "It is midnight; everybody is asleep."))
    for person in ("ada", "ben"):
        day.add(0, events.presence(person, "bedroom"))
        day.add(0, events.state(person, "is asleep", asleep=True))
    rain = day.at("01:20", 90)
    day.add(rain, events.rain(1, 9, anybody_home=True))
    day.add(rain + day.between("night rain", 40, 80) * 60, events.rain_over())
    if day.chance("leak") < 0.5:
        _leak(day, day.at("03:30", 90))


def _leak(day: Planner, at: int) -> None:
    right = Concern("leak", "stop leak", events.leak_stopped, (180, 300), wakes=True)
    day.add(at, events.leak("cellar"), opens=right)
    # Nobody else goes down there before breakfast.
    day.add(day.at("07:15"), events.leak_stopped("ben"), closes="leak")


def _getting_up(day: Planner) -> None:
    ben, ada = day.at("06:30", 15), day.at("06:55", 10)
    for person, at in (("ben", ben), ("ada", ada)):
        day.add(at, events.state(person, "is awake", asleep=False))
        day.add(at + 120, events.presence(person, "bathroom"))
        day.add(at + 900, events.presence(person, "kitchen"))
    day.add(ben + 60, events.weather("grey", 11))
    # Fresh air: several windows at once, and two of them closed again.
    airing = day.at("07:12", 5)
    for number, room in enumerate(_ROOMS):
        day.add(airing + 12 * number, events.window(room, "ben", is_open=True))
    for number, room in enumerate(_ROOMS[:3]):
        closed = events.window(room, "ben", is_open=False)
        day.add(airing + 600 + 15 * number, closed)


def _breakfast(day: Planner) -> None:
    on = day.at("07:25", 5)
    day.add(on, events.oven("ada", on=True, celsius=180))
    day.add(on + 540, events.oven_ready(180))
    day.add(on + 900, events.oven_on(15, "ada", kitchen_empty=False))
    day.add(on + 960, events.oven("ada", on=False))
    words = day.one_of(
        "remind",
        (
            "Remind me at six to call my mother.",
            "Please remind me to call my mother at six o'clock this evening.",
        ),
    )
    truth: Fields = {"asks": "remind", "about": "call", "at_s": day.at("18:00")}
    day.say(on + 1080, events.message("ada", words, truth))


def _ada_leaves(day: Planner) -> None:
    leaves = day.at("08:20", 15)
    day.add(leaves - 1200, events.leave_soon("ada", "the dentist", 20))
    day.add(leaves - 20, events.goes("ada", 1, last=False))
    day.add(leaves, events.door("ada", is_open=True))
    day.add(leaves + 5, events.presence("ada", "out"))
    day.add(leaves + 5, events.state("ada", "is away", away=True))
    day.add(leaves + 15, events.door("ada", is_open=False))


def window_concern(
    room: str, when: str, takes_s: tuple[int, int] = (30, 120)
) -> Concern:
    """Return an open window that somebody can close."""
    right = partial(_closed, room)
    return Concern(f"window {room} {when}", "close window", right, takes_s)


def _closed(room: str, by: str) -> Sensed:
    return events.window(room, by, is_open=False)
