"""The day: Ben works at home, goes out for lunch, and a thunderstorm comes."""

from functools import partial

from packs.home.sensor import events
from packs.home.sensor.morning import window_concern
from packs.home.sensor.plan import Concern, Planner
from schemas.messages.sensing import Fields

_AIRED = ("study", "living-room", "bedroom")


def plan(day: Planner) -> None:
    """Add what happens until Ada comes home."""
    _work(day)
    _wash(day)
    _lunch_out(day)
    _question(day)
    if day.chance("nap") < 0.5:
        _nap(day)
    _storm(day)
    letter = day.at("16:50", 10)
    _typing(day, letter, "letter")
    day.add(letter + 200, events.dishwasher_finished())


def washing_concern(name: str) -> Concern:
    """Return a finished wash that somebody can take out."""
    right = partial(events.washing, started=False)
    return Concern(name, "empty washing-machine", right, (240, 600))


def _work(day: Planner) -> None:
    day.add(day.at("08:50", 5), events.presence("ben", "study"))
    _typing(day, day.at("09:00", 5), "mail")
    call, ends = day.at("10:00"), day.at("10:45", 15)
    day.add(call, events.state("ben", "is in a call", busy=True, activity="call"))
    bell = day.at("10:08", 8)
    day.add(bell, events.doorbell())
    day.add(bell + 120, events.noted("courier_left", "The courier has gone."))
    day.add(
        ends, events.state("ben", "is out of the call", busy=False, activity="none")
    )
    day.add(ends + 3, events.pause("ben", "call_ended"))
    day.add(day.at("11:20", 20), events.weather("cloudy", 14))


def _typing(day: Planner, at: int, what: str) -> None:
    day.add(at, events.state("ben", f"types a {what}", typing=True, activity="work"))
    ends = at + day.between(f"typing {what}", 8, 15) * 60
    day.add(ends, events.state("ben", "stops typing", typing=False))
    day.add(ends + 3, events.pause("ben", "typing_paused"))


def _wash(day: Planner) -> None:
    started, name = day.at("09:16", 8), "morning wash"
    day.add(started, events.washing("ben", started=True))
    # It ends in the middle of the call.
    done = day.at("10:18", 14)
    day.add(done, events.washing_finished(), opens=washing_concern(name))
    for minutes in (60, 120, 240):
        waits = events.washing_waiting(minutes)
        day.add(done + 60 * minutes, waits, unless=name)
    day.add(day.at("15:00", 8), events.washing("ben", started=False), closes=name)


def _lunch_out(day: Planner) -> None:
    ring = events.due("ben", "collect the ring for Ada", 15, hidden_from="ada")
    day.add(day.at("12:02", 3), ring)
    leaves, back = day.at("12:15", 8), day.at("13:05", 8)
    # He has his coat on, and sees to it before he goes.
    study, here = window_concern("study", "lunch", (20, 60)), "window study lunch"
    goes = events.goes("ben", 1, last=True)
    day.add(leaves - 75, goes, opens=study)
    day.add(leaves, events.door("ben", is_open=True))
    day.add(leaves + 5, events.presence("ben", "out"))
    day.add(leaves + 5, events.state("ben", "is away", away=True))
    day.add(leaves + 12, events.door("ben", is_open=False))
    rain = day.at("12:34", 10)
    day.add(rain, events.rain(1, 13, anybody_home=False), unless=here)
    day.add(rain, events.rain(0, 13, anybody_home=False), after=here)
    day.add(rain + 900, events.wet("study"), unless=here)
    day.add(back, events.door("ben", is_open=True))
    day.add(back + 5, events.presence("ben", "kitchen"))
    day.add(back + 5, events.state("ben", "is back", away=False))
    day.add(back + 6, events.came("ben", guest=False))
    day.add(back + 15, events.door("ben", is_open=False))
    day.add(back + 90, events.window("study", "ben", is_open=False), closes=here)
    day.add(back + 120, events.rain_over())


def _question(day: Planner) -> None:
    words = (
        "Will it rain again this afternoon?",
        "Is there any more rain to come today?",
    )
    truth: Fields = {"asks": "question"}
    at = day.at("13:24", 5)
    day.say(at, events.message("ben", day.one_of("question", words), truth))


def _nap(day: Planner) -> None:
    at = day.at("13:40", 5)
    day.add(at, events.presence("ben", "living-room"))
    day.add(at + 300, events.state("ben", "has fallen asleep", asleep=True))
    day.add(at + 1200, events.weather("bright", 17))
    day.add(at + 2100, events.state("ben", "is awake again", asleep=False))


def _storm(day: Planner) -> None:
    stop: Fields = {"asks": "stop", "topic": "weather"}
    said = events.message("ben", "Stop telling me about the weather.", stop)
    day.say(day.at("14:42", 8), said)
    day.add(day.at("15:05", 3), events.weather("sunny", 21))
    opened, warned = day.at("15:10", 5), day.at("15:30", 10)
    for number, room in enumerate(_AIRED):
        by = events.window(room, "ben", is_open=True)
        day.add(opened + 10 * number, by, opens=window_concern(room, "storm"))
    day.add(warned, events.warning(40, len(_AIRED)))
    for number, room in enumerate(_AIRED):
        day.add(warned + 1 + number, events.window_at_risk(room, 40))
    begins = warned + 2400 + day.between("storm", 0, 300)
    first = f"window {_AIRED[0]} storm"
    open_still = events.rain(len(_AIRED), 15, anybody_home=True)
    day.add(begins, open_still, unless=first)
    day.add(begins, events.rain(0, 15, anybody_home=True), after=first)
    for number, room in enumerate(_AIRED):
        name = f"window {room} storm"
        at = begins + 240 + 20 * number
        day.add(at, events.wet(room), unless=name)
        closed = events.window(room, "ben", is_open=False)
        day.add(at + 120, closed, closes=name)
    day.add(begins + 2000, events.rain_over())
