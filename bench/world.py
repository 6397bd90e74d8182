"""A made-up household: a pack of any size, and the events of its sensors.

The same seed gives the same pack and the same events, so two runs answer the same
questions.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import orjson

from schemas.messages.arms import Action
from schemas.packs.event_types import EventType
from schemas.packs.manifest import (
    ExecutiveOfPack,
    Heuristic,
    OutcomePattern,
    Pack,
    PackSalience,
    Response,
)
from schemas.values.base import rfc3339
from schemas.values.record import Wire
from schemas.values.subjects import partition_of

AGENTS = ("ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hana")
PACK = "household"
PACK_LIMIT = 20_000
"""How many heuristics one pack may hold."""
SOURCES = ("home", "garden", "kitchen", "office")

_THINGS = (
    "kettle", "oven", "dishwasher", "thermostat", "water tank", "greenhouse", "printer",
    "build server", "backup disk", "garden gate", "front door", "skylight", "freezer",
    "washing machine", "goldfish bowl", "smoke alarm", "router", "solar inverter",
    "heat pump", "coffee machine", "lawn mower", "rain barrel", "chicken coop", "piano",
    "wine rack", "letter box", "tool shed", "car charger", "doorbell", "projector",
    "tomato bed", "beehive", "compost heap", "pond pump", "attic fan", "fuse box",
    "vacuum robot", "cat flap", "bookshelf", "radiator", "bicycle", "sewing machine",
    "telescope", "aquarium", "fireplace", "chimney", "hammock", "trampoline", "sauna",
    "elevator", "swimming pool", "bird feeder", "weather vane", "toaster", "microwave",
    "blender", "television", "loudspeaker", "guitar", "easel", "kiln", "loom", "anvil",
    "drill press", "generator", "wind turbine", "septic tank", "water heater", "cistern",
    "awning", "shutters", "drawbridge", "stable", "pigeon loft", "rabbit hutch", "orchard",
    "vineyard", "herb garden", "mushroom box", "incubator", "wheelchair", "stair lift",
    "hospital bed", "oxygen bottle", "medicine chest", "scale", "safe", "typewriter",
    "fax machine", "scanner", "web camera", "drone", "game console", "arcade cabinet",
    "jukebox", "grandfather clock", "music box", "chandelier", "carpet", "dumbwaiter",
)  # fmt: skip
_STATES: tuple[tuple[str, str, str, int], ...] = (
    ("is running low", "level", "<=", 20),
    ("is getting too hot", "heat", ">=", 80),
    ("has been left open", "open_s", ">", 120),
    ("stopped answering", "silent_s", ">", 30),
    ("is making a strange noise", "noise", ">=", 60),
    ("needs to be cleaned", "dirt", ">", 70),
    ("has finished its work", "progress", "=", 100),
    ("is leaking slowly", "leak", ">", 0),
    ("froze over during the night", "heat", "<", 0),
    ("draws too much power", "watts", ">", 900),
    ("was moved by somebody", "moved", ">=", 1),
    ("is almost full", "level", ">=", 90),
    ("lost its connection", "signal", "<", 10),
    ("is due for an inspection", "days", ">=", 365),
    ("smells of something burnt", "smoke", ">", 5),
    ("is blocked by an obstacle", "blocked", "=", 1),
    ("reports a worn battery", "charge", "<", 15),
    ("was unlocked from outside", "unlocked", "=", 1),
    ("is vibrating heavily", "vibration", ">", 40),
    ("attracts wasps again", "wasps", ">=", 3),
    ("was switched off by a child", "off", "=", 1),
    ("is late by several hours", "late_h", ">", 2),
    ("shows an unknown error", "error", ">", 0),
    ("stands in bright sunlight", "lux", ">", 9000),
    ("has a new visitor", "visitors", ">=", 1),
)
_PLACES = (
    "in the cellar", "on the top floor", "behind the barn", "next to the stairs",
    "at grandmother's place", "in the summer kitchen", "by the lake", "under the roof",
    "in the nursery", "across the yard", "in the workshop", "near the railway",
    "in the guest room", "on the balcony", "in the garage", "beside the church",
    "in the library", "at the boat house", "in the corridor", "on the terrace",
)  # fmt: skip
_MOMENTS = (
    "while guests arrive", "during a thunderstorm", "before breakfast", "after the concert",
    "while Ada practises scales", "on laundry day", "as the sun goes down",
    "with the twins asleep", "in the middle of an exam", "while soup boils over",
    "right before the holidays", "during the football match", "as snow begins to fall",
    "on market morning", "while the doctor visits", "after the fireworks",
    "in the dentist's absence", "during a video call", "on tax day",
    "while paint is drying", "as the ferry leaves", "in mushroom season",
    "during the siesta", "while wolves howl", "after a marathon", "on election night",
    "as bread rises", "during choir rehearsal", "while lightning strikes", "at low tide",
    "in mating season",
)  # fmt: skip
_PATTERNS = (
    "{moment} {place}: {thing} {state}",
    "{thing} {state} {place} {moment}",
    "{place}, {moment}, {thing} {state}",
)
_QUIET = (
    "{who} walks past the {thing} and hums an old song",
    "a light breeze moves the curtains near the {thing}",
    "routine report: the {thing} is well, value {value}",
    "{who} reads a chapter about {topic} aloud",
    "the neighbour's dog looks at the {thing} for a while",
    "{who} wonders whether {topic} matters at all",
    "measurement {value} of the {thing}, nothing unusual",
    "music from the radio: a waltz, then news on {topic}",
)
_WHO = ("Ada", "the gardener", "a guest", "Uncle Tom", "the twins", "the postman")
_TOPICS = (
    "sailing", "the moon", "old maps", "bread", "chess", "the tides", "tax law", "owls",
    "railways", "glass", "volcanoes", "the harvest",
)  # fmt: skip
_TYPES = ("noticed", "measured", "changed", "heard", "finished", "warned")
# Of events: about a situation that a heuristic knows, or only reports. See `_event`.
_KNOWN = 0.33
_REPORTS = 0.15
_BEGIN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Event:
    """An event as its sensor sends it."""

    agent: str
    source: str
    type: str
    body: bytes
    id: str
    at: datetime

    @property
    def headers(self) -> dict[str, str]:
        """Its attributes as CloudEvents has them."""
        return {
            "ce-specversion": "1.0",
            "ce-id": self.id,
            "ce-type": "echoic.sensed",
            "ce-source": f"/bench/{self.source}",
            "ce-subject": self.agent,
            "ce-time": rfc3339(self.at),
            "content-type": "application/json",
        }

    @property
    def wire(self) -> Wire:
        """The event as the log holds it."""
        place = f"ev.{partition_of(self.agent)}.in.{self.agent}"
        subject = f"{place}.sensor.{self.source}.{self.type}"
        return Wire(subject, self.headers, self.body)

    @property
    def published(self) -> str:
        """Where its sensor publishes it."""
        return f"in.{self.agent}.{self.source}.{self.type}"


def packs(heuristics: int) -> list[Pack]:
    """Return packs of `heuristics` together; all events are of the first one's domain."""
    starts = range(0, heuristics, PACK_LIMIT)
    first, *others = [pack(min(PACK_LIMIT, heuristics - each), each) for each in starts]
    return [first, *(each.model_copy(update={"events": ()}) for each in others)]


def pack(heuristics: int, first: int = 0) -> Pack:
    """Return a pack of heuristics, each with its own condition and `when`."""
    return Pack(
        schema=1,
        name=f"{PACK}_{first}" if first else PACK,
        version="1.0.0",
        setting="home",
        executive=ExecutiveOfPack(
            domain_context="A household with many devices.",
            outcome_patterns=tuple(_outcome_pattern(thing) for thing in _THINGS[:20]),
        ),
        salience=PackSalience(threshold=0.5, weights={"threat": 2.0}),
        events=tuple(
            EventType(type=type_, source=source, salience={"actionability": 0.3})
            for source in SOURCES
            for type_ in _TYPES
        ),
        heuristics=tuple(_heuristic(row) for row in range(first, first + heuristics)),
    )


def events(count: int, seed: int = 1) -> list[Event]:
    """Return `count` events: most of them quiet, some that a heuristic is about."""
    rng = Random(seed)
    return [_event(rng, number) for number in range(count)]


def _outcome_pattern(thing: str) -> OutcomePattern:
    return OutcomePattern(
        trigger_pattern=thing, outcome_pattern=f"the {thing} is well", timeout_sec=60
    )


def _situation(row: int) -> tuple[str, str, tuple[str, str, str, int]]:
    """Return a row's text, its thing and its `when`: like rows differ in all else."""
    number, about = row % len(_THINGS), row // len(_THINGS)
    condition = _STATES[(about + 3 * number) % len(_STATES)]
    text = _PATTERNS[row % len(_PATTERNS)].format(
        thing=_THINGS[number],
        place=_PLACES[(7 * about + number) % len(_PLACES)],
        moment=_MOMENTS[(11 * about + number) % len(_MOMENTS)],
        state=condition[0],
    )
    return text, _THINGS[number], condition


def _heuristic(row: int) -> Heuristic:
    text, thing, (state, field, operator, limit) = _situation(row)
    return Heuristic(
        name=f"h{row}",
        condition=text[0].upper() + text[1:],
        when=f'device = "{thing}" and {field} {operator} {limit}',
        action=Response(
            type="alert" if row % 7 == 0 else "suggestion",
            text=f"Have a look at the {thing}: it {state}.",
            action=Action(type="inspect", target=thing.replace(" ", "_")),
        ),
        confidence=0.8 if row % 3 else 0.6,
        urgency=round(row % 10 / 10, 1),
    )


def _event(rng: Random, number: int) -> Event:
    # A third is about a situation that the first thousand rows know, some only report:
    # as in a recorded game, half end at a gate, and one in seven is answered.
    kind = rng.random()
    text, fields = _known(rng) if kind < _KNOWN else _quiet(rng)
    at = _BEGIN + timedelta(milliseconds=700 * number + rng.randrange(500))
    body: dict[str, object] = {
        "text": text,
        "fields": fields,
        "occurred_at": rfc3339(at),
        "entities": [fields["device"]],
        "urgency": round(rng.random(), 2),
    }
    if kind < _KNOWN:
        body["salience"] = {"actionability": 0.8, "goal_relevance": 0.7}
    elif kind < _KNOWN + _REPORTS:
        body["intent"] = "informational"
    return Event(
        agent=rng.choice(AGENTS),
        source=rng.choice(SOURCES),
        type=rng.choice(_TYPES),
        body=orjson.dumps(body),
        id=str(UUID(int=rng.getrandbits(128))),
        at=at,
    )


def _known(rng: Random) -> tuple[str, dict[str, str | int]]:
    # The first thousand rows, so that packs of any size know the same events.
    row = rng.randrange(1000)
    text, thing, (_, field, operator, limit) = _situation(row)
    beyond = rng.randrange(1, 9)
    value = limit + (beyond if operator.startswith(">") else -beyond)
    value = limit if operator == "=" else value
    # Alike in words, but the heuristic's `when` refuses it: matching alone cannot tell.
    misses = rng.random() < 0.4
    fields: dict[str, str | int] = {"device": thing}
    fields[field] = -value if misses else value
    return f"{text} since {rng.randrange(1, 60)} minutes", fields


def _quiet(rng: Random) -> tuple[str, dict[str, str | int]]:
    thing, value = rng.choice(_THINGS), rng.randrange(1000)
    text = rng.choice(_QUIET).format(
        thing=thing, value=value, who=rng.choice(_WHO), topic=rng.choice(_TOPICS)
    )
    return text, {"device": thing, "value": value, "room": rng.choice(_PLACES)}
