"""The evening: Ada comes home, a guest comes to dinner, a film, and to bed."""

from functools import partial

from msgspec.structs import replace

from packs.home.sensor import events
from packs.home.sensor.daytime import washing_concern
from packs.home.sensor.plan import DAY_S, Concern, Planner
from packs.home.sensor.situation import PEOPLE
from schemas.messages.sensing import Fields, Sensed


def plan(day: Planner) -> None:
    """Add what happens from when Ada comes home until midnight."""
    _ada_comes(day)
    _cooking(day)
    _guest_comes(day)
    _dinner(day)
    _film(day)
    _bedtime(day)


def _ada_comes(day: Planner) -> None:
    at, here = day.at("17:20", 10), "front door"
    day.add(at, events.door("ada", is_open=True))
    day.add(at + 5, events.presence("ada", "kitchen"))
    day.add(at + 5, events.state("ada", "is back", away=False))
    day.add(at + 6, events.came("ada", guest=False))
    right = partial(events.door, is_open=False)
    concern = Concern(here, "close front-door", right, (20, 60))
    # She carries bags in; the door stays open behind her.
    day.add(at + 180, events.door_left_open(3), opens=concern)
    day.add(at + 840, events.door("ada", is_open=False), closes=here)
    ring = events.due("ben", "collect the ring before seven", 60, hidden_from="ada")
    day.add(day.at("17:38", 4), ring)
    guest = events.due("ada", "Cleo comes to dinner", 45)
    day.add(day.at("17:46", 2), guest)


def _cooking(day: Planner) -> None:
    wash = day.at("17:48", 4)
    day.add(wash, events.washing("ada", started=True))
    on = day.at("18:02", 4)
    day.add(on, events.oven("ada", on=True, celsius=200))
    day.add(on + 600, events.oven_ready(200))
    day.add(on + 1500, events.oven_on(25, "ada", kitchen_empty=False))
    # The roast is out, everybody sits at the table, and the oven is still on.
    right = partial(events.oven, on=False)
    concern = Concern("oven", "turn-off oven", right, (40, 150))
    left = day.at("19:08", 6)
    for minutes in (10, 25):
        at = left + 60 * (minutes - 10)
        still = events.oven_on(60 + minutes, "ada", kitchen_empty=True)
        opens = concern if minutes == 10 else None
        day.add(at, still, opens=opens, unless=None if opens else "oven")
    day.add(day.at("19:50", 5), events.oven("ada", on=False), closes="oven")


def _guest_comes(day: Planner) -> None:
    at = day.at("18:32", 10)
    day.add(at, events.doorbell())
    day.add(at + 40, events.door("ben", is_open=True))
    day.add(at + 50, events.presence("cleo", "living-room"))
    day.add(at + 51, events.came("cleo", guest=True))
    day.add(at + 60, events.door("ben", is_open=False))


def _dinner(day: Planner) -> None:
    begins, ends, wash = day.at("18:56", 4), day.at("20:02", 6), "evening wash"
    for person in PEOPLE:
        day.add(begins, events.presence(person, "dining-room"))
        dines = events.state(person, "is at dinner", busy=True, activity="dinner")
        day.add(begins, dines)
        done = events.state(person, "has finished dinner", busy=False, activity="none")
        day.add(ends, done)
    day.add(day.at("19:18", 6), events.washing_finished(), opens=washing_concern(wash))
    tablet = events.due("ada", "take your tablet", 5, hidden_from="guests")
    # Until she goes to bed it is no matter when.
    day.add(day.at("19:26", 4), replace(tablet, ttl_s=4 * 3600))
    day.add(day.at("19:36", 6), events.weather("clear", 12))
    day.add(ends + 3, events.pause("ada", "dinner_ended"))
    day.add(day.at("20:48", 4), events.washing_waiting(90), unless=wash)
    day.add(day.at("21:50", 5), events.washing("ada", started=False), closes=wash)


def _film(day: Planner) -> None:
    quiet: Fields = {"asks": "quiet", "minutes": 60}
    words = (
        "Please be quiet for an hour, we are watching a film.",
        "Be quiet for an hour now, the film begins.",
    )
    begins = day.at("20:22", 4)
    day.say(begins, events.message("ben", day.one_of("quiet", words), quiet))
    ends = begins + 3720
    for person in PEOPLE:
        day.add(begins + 5, events.presence(person, "living-room"))
        sees = events.state(person, "watches a film", busy=True, activity="film")
        day.add(begins + 60, sees)
        done = events.state(person, "has seen the film", busy=False, activity="none")
        day.add(ends, done)
    ice = Concern("freezer", "close freezer", _freezer_closed, (60, 180))
    day.add(day.at("20:54", 6), events.freezer(is_open=True, minutes=3), opens=ice)
    day.add(ends + 300, events.freezer(is_open=False, by="ada"), closes="freezer")
    day.add(day.at("21:06", 6), events.weather("windy", 11))
    day.add(ends + 3, events.pause("ben", "film_ended"))
    truth: Fields = {"asks": "news"}
    day.say(
        ends + day.between("news", 60, 240), events.message("ben", "What's up?", truth)
    )


def _bedtime(day: Planner) -> None:
    leaves, bed = day.at("22:12", 8), day.at("22:44", 5)
    day.add(leaves, events.goes("cleo", 0, last=False))
    day.add(leaves + 60, events.door("cleo", is_open=True))
    day.add(leaves + 65, events.presence("cleo", "out"))
    day.add(leaves + 75, events.door("cleo", is_open=False))
    for person in ("ada", "ben"):
        day.add(bed, events.presence(person, "bedroom"))
    lock = Concern("lock", "lock front-door", events.door_locked, (60, 180))
    day.add(bed + 60, events.door_unlocked(), opens=lock)
    for person in ("ada", "ben"):
        asleep = day.at("23:02", 8) + (300 if person == "ben" else 0)
        day.add(asleep, events.state(person, "is asleep", asleep=True))
    day.add(day.at("23:22", 8), events.dishwasher_finished())
    day.add(day.at("23:38", 8), events.weather("stormy", 9))
    day.add(DAY_S - 1, events.noted("day_ended", "The day is over."))


def _freezer_closed(by: str) -> Sensed:
    return events.freezer(is_open=False, by=by)
