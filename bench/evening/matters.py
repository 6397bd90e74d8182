"""What happens in an evening, and what a reasonable person wants of it.

The mind sees the event; the judge sees the `Truth` beside it as well. Half of the events
are the home pack's own, with its hints; half are of things that a person plugged in and
taught a sentence for, without any hints, as in the README.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace as changed

from packs.home.sensor import events as home
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.sensing import PERSON, PERSONS_WORDS, Sensed
from schemas.values.reasons import ResponseType

Worth = Literal["alert", "urgent", "useful", "mild", "none"]
"""`alert`: at any moment but a mute; `urgent`: somebody waits for it, call or no call;
`useful`: as soon as nobody is busy; `mild`: may be said or left; `none`: must not be."""

Ask = Literal["quiet", "mute", "unmute", "suppress", "watch", "remind", "change"]
"""What a person wants of the companion; `change`: another way to speak."""

ROOMS = ("bedroom", "bathroom", "study", "attic", "cellar")

ALERT_S, URGENT_S, PROMPT_S, USEFUL_S = 10.0, 20.0, 60.0, 600.0
"""Within how many seconds, of those at which it may be said, something must be."""
REMINDED_S, WATCHED_S = 20.0, 20.0


@dataclass(frozen=True, slots=True)
class Wish:
    """Something a person wants of the companion."""

    ask: Ask
    until: float | None = None
    """The second at which it ends; None: until taken back."""
    topic: str = ""
    words: tuple[str, ...] = ()
    """What must occur in the words that keep it: a reminder's, or those of what comes."""
    due: float | None = None
    """When a reminder is due."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of an event, which no mind is told."""

    worth: Worth = "none"
    matter: str = ""
    """What it is about, the same name for each event about it."""
    words: tuple[str, ...] = ()
    """By all of these in one sentence the matter is named."""
    topic: str = ""
    """What a person would call it who wants to hear no more, or more, of it."""
    within_s: float = USEFUL_S
    lasts_s: float | None = None
    """After so many seconds nobody has any use for it."""
    ends: bool = False
    """Whether the matter is over by this."""
    wish: Wish | None = None
    question: Literal["", "any", "missed"] = ""
    """Whether it asks for an answer; `missed`: for what was kept back."""
    person: Mapping[str, object] = field(default_factory=dict)
    """What changes about the person of the event: `home`, `busy`."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens."""

    at: float
    source: str
    event: Sensed
    truth: Truth = Truth()

    @property
    def is_persons(self) -> bool:
        """Whether somebody says it to the companion."""
        return self.source == PERSON and self.event.type == PERSONS_WORDS


Happening = tuple[str, Sensed, Truth]
"""Source, event and truth."""

_HOME = "home"


def useful(kind: str, room: str) -> Happening:
    """Return something worth a word, of one of the kinds below."""
    match kind:
        case "wash":
            return (
                _HOME,
                home.washing_finished(),
                _of(kind, ("washing",), "the laundry"),
            )
        case "dishes":
            return (
                _HOME,
                home.dishwasher_finished(),
                _of(kind, ("dishes",), "the dishes"),
            )
        case "window":
            truth = _of(f"{kind}-{room}", ("window",), "the windows", lasts_s=1200)
            return _HOME, home.window_at_risk(room, 20), truth
        case "oven-hot":
            truth = _of(kind, ("oven",), "the oven", within_s=PROMPT_S, lasts_s=180)
            return _HOME, home.oven_ready(200), truth
        case "door":
            truth = _of(
                kind, ("front door",), "the door", within_s=PROMPT_S, lasts_s=240
            )
            return _HOME, home.door_left_open(3), truth
        case "mail":
            event = _plain("mail", "There is mail in the letter box.")
            return "post", event, _of(kind, ("mail",), "the mail")
        case "cake":
            event = changed(_plain("timer", "The cake is ready."), urgency=0.8)
            truth = _of(
                kind,
                ("cake",),
                "the cake",
                worth="urgent",
                within_s=PROMPT_S,
                lasts_s=600,
            )
            return "kitchen", event, truth
        case "dryer":
            event = changed(_plain("dryer", "The dryer has finished."), urgency=0.4)
            return "cellar", event, _of(kind, ("dryer",), "the dryer")
        case _:
            event = _plain("lamp", f"The {room} lamp is on.", room=room)
            return "hall", event, _of(f"lamp-{room}", (f"{room} lamp",), "the lamps")


USEFUL = (
    "wash",
    "dishes",
    "window",
    "oven-hot",
    "door",
    "mail",
    "cake",
    "dryer",
    "lamp",
)
BY_ROOM = ("window", "lamp")
PATIENT = ("wash", "dishes", "mail", "dryer", "lamp")
"""Those that can wait ten minutes, and longer, and are worth a word all the same."""
SUPPRESSIBLE = ("wash", "dishes", "mail", "weather", "dryer")


def alert(kind: str, room: str) -> Happening:
    """Return a danger, or a ring at the door."""
    match kind:
        case "leak":
            truth = _of(kind, ("water",), "leaks", worth="alert", within_s=ALERT_S)
            return _HOME, home.leak(room), truth
        case "freezer":
            truth = _of(kind, ("freezer",), "it", worth="alert", within_s=30)
            return _HOME, home.freezer(is_open=True, minutes=5), truth
        case "smoke":
            event = changed(
                _plain("smoke", f"There is smoke in the {room}!"),
                urgency=1.0,
                salience={"threat": 0.95},
            )
            truth = _of(kind, ("smoke",), "smoke", worth="alert", within_s=ALERT_S)
            return "hall", event, truth
        case _:
            truth = _of(
                kind,
                ("door",),
                "the bell",
                worth="urgent",
                within_s=URGENT_S,
                lasts_s=90,
            )
            return _HOME, home.doorbell(), truth


ALERTS = ("leak", "freezer", "smoke", "bell", "bell")


def ended(kind: str, by: str) -> Happening | None:
    """Return what ends a danger; None: nothing does."""
    over = Truth(matter=kind, ends=True)
    match kind:
        case "leak":
            return _HOME, home.leak_stopped(by), over
        case "freezer":
            return _HOME, home.freezer(is_open=False, by=by), over
        case "smoke":
            return "hall", _plain("smoke_cleared", "The air is clear again."), over
        case _:
            return None


def lasting(kind: str, minutes: int, by: str) -> tuple[Happening, Happening]:
    """Return a report of something that goes on, and the event that ends it."""
    if kind == "oven":
        event = home.oven_on(minutes, by, kitchen_empty=True)
        truth = _of("oven-on", ("oven",), "it", worth="alert", within_s=30)
        over = home.oven(by, on=False)
        return (_HOME, event, truth), (_HOME, over, Truth(matter="oven-on", ends=True))
    text = f"The garage door is still open, for {minutes} minutes."
    truth = _of("garage", ("garage",), "the garage", within_s=300)
    over = _plain("garage", "The garage door is closed.", open=False)
    return (
        ("garage", _plain("garage", text, open=True, minutes=minutes), truth),
        ("garage", over, Truth(matter="garage", ends=True)),
    )


LASTING = ("oven", "garage")


def mild(kind: str) -> Happening:
    """Return what may be said or left."""
    if kind == "weather":
        truth = Truth("mild", "weather", ("weather",), "the weather")
        return _HOME, home.weather("cloudy", 11), truth
    return _HOME, home.rain(0, 9, anybody_home=True), Truth("mild", "rain", ("rain",))


def needless(kind: int, by: str) -> Happening:
    """Return what nobody wants to be told: what somebody does just now, or a reading."""
    made = (
        home.reading(20.5, 8.0),
        home.window("kitchen", by, is_open=False),
        home.washing(by, started=True),
        home.oven(by, on=True, celsius=180),
    )
    return _HOME, made[kind % len(made)], Truth()


WATCHED: Mapping[str, tuple[str, str, str, str]] = {
    "hedgehogs": ("garden", "visitor", "A hedgehog is in the garden.", "hedgehog"),
    "foxes": ("garden", "visitor", "A fox runs across the lawn.", "fox"),
    "the parcel van": ("street", "van", "The parcel van stops outside.", "parcel van"),
    "the moon": ("sky", "moon", "The moon has risen.", "moon"),
}
"""What is worth a word to whom asked for it alone: source, type, text and its name."""

CLAUSES: Mapping[str, str] = {
    "hedgehogs": "a hedgehog comes",
    "foxes": "you see a fox",
    "the parcel van": "the parcel van comes",
    "the moon": "the moon has risen",
}


def watched(topic: str) -> Happening:
    """Return the event that somebody watches for, or does not."""
    source, type_, text, word = WATCHED[topic]
    return source, _plain(type_, text), Truth("none", word, (word,), topic)


def words(person: str, text: str, truth: Truth) -> Happening:
    """Return what somebody says to the companion."""
    return PERSON, Sensed(type=PERSONS_WORDS, text=text, person=person), truth


def taught() -> tuple[HeuristicSeeded, ...]:
    """Return what the people of the house taught it before."""
    rooms = [
        _lesson(
            f"lamp-{room}",
            "hall",
            f"The {room} lamp is on",
            f"The {room} lamp is on.",
            when=f'type = "lamp" and room = "{room}"',
        )
        for room in ROOMS
    ]
    return (
        _lesson("mail", "post", "There is mail in the letter box", "There is mail."),
        _lesson("cake", "kitchen", "The cake is ready", "The cake is ready.", 0.8),
        _lesson("dryer", "cellar", "The dryer has finished", "The dryer is done."),
        _lesson(
            "garage",
            "garage",
            "The garage door is still open",
            "The garage door is still open.",
            when="open = true",
        ),
        _lesson(
            "smoke",
            "hall",
            "There is smoke",
            "There is smoke in the house!",
            1.0,
            when='type = "smoke"',
            kind="alert",
        ),
        *rooms,
    )


def _lesson(
    name: str,
    domain: str,
    condition: str,
    text: str,
    urgency: float = 0.0,
    *,
    when: str | None = None,
    kind: ResponseType = "observation",
) -> HeuristicSeeded:
    return HeuristicSeeded(
        heuristic_id=name,
        name=name,
        domain=domain,
        condition=condition,
        when=when,
        response_type=kind,
        text=text,
        confidence=0.8,
        urgency=urgency,
    )


def _of(
    matter: str,
    words: tuple[str, ...],
    topic: str,
    *,
    worth: Worth = "useful",
    within_s: float = USEFUL_S,
    lasts_s: float | None = None,
) -> Truth:
    return Truth(worth, matter, words, topic, within_s, lasts_s)


def _plain(type_: str, text: str, **fields: object) -> Sensed:
    """Return an event as a simple sensor tells it: without any hint of its worth."""
    return Sensed(type=type_, text=text, fields=fields)
