"""The simulated people: they live their day, hear what is said, and put things right.

No I/O. A day without advice goes by its plan. Advice that somebody awake hears is followed
by a keyed draw; what is then put right is reported as the outcome of that advice.
"""

import heapq
import json
from collections import Counter
from dataclasses import dataclass

from packs.home.sensor import daytime, evening, events, morning
from packs.home.sensor.plan import DAY_S, PERSON, Concern, Entry, Planner
from packs.home.sensor.situation import Situation
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed

_ALOUD = "say"
"""The channel of the loudspeaker, which everybody in the house hears."""

_PERSONAL = {"phone-ada": "ada", "phone-ben": "ben"}
"""The channels that one person reads, by name; any other is read by who is at home."""

_REMEMBERED = 1_000
"""How many decisions are remembered: delivery is at-least-once, so each may come again."""

_UP_S = 1200
"""For how long somebody is up who got up at night."""

_ENGAGED = ("call", "film", "dinner")
"""Activities in which people mind being spoken to."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that the companion said."""

    decision_id: str
    channel: str
    is_alert: bool
    action: str
    """The advice, as `close window`; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One message of the day."""

    at: int
    source: str
    message: Sensed | FeedbackGiven


def parse(channel: str, payload: bytes) -> Said | None:
    """Read a delivered message; None if it is none of the companion's."""
    try:
        said = json.loads(payload)
        action = said.get("action") or {}
        return Said(
            decision_id=str(said["decision_id"]),
            channel=channel,
            is_alert=said.get("type") == "alert",
            action=f"{action.get('type', '')} {action.get('target') or ''}".strip(),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


class Household:
    """One day of the home, from midnight to midnight."""

    def __init__(self, seed: str, follow: float) -> None:
        """Plan the day of a seed; advice is followed with probability `follow`."""
        self._day = Planner(seed)
        for part in (morning, daytime, evening):
            part.plan(self._day)
        self._follow = follow
        self._queue: list[tuple[int, int, Entry | Happening]] = []
        self._added = 0
        for entry in self._day.entries:
            self._push(entry.at, entry)
        self._open: dict[str, Concern] = {}
        self._done: set[str] = set()
        self._doing: set[str] = set()
        self._told: Counter[str] = Counter()
        self._heard: dict[str, None] = {}
        self.now = 0
        """Seconds since midnight."""
        self.situation = Situation()

    @property
    def next_at(self) -> int | None:
        """When something happens next; None if the day is over."""
        return self._queue[0][0] if self._queue else None

    def advance(self) -> Happening | None:
        """Return what happens next; None if it was seen to before, or the day is over."""
        if not self._queue:
            return None
        self.now, _, item = heapq.heappop(self._queue)
        if isinstance(item, Happening):
            return item
        if {item.closes, item.unless} & self._done:
            return None
        if item.after is not None and item.after not in self._done:
            return None
        if item.opens:
            self._open[item.opens.name] = item.opens
        if item.closes:
            self._done.add(item.closes)
        self.situation = self.situation.after(item.event, self.now)
        return Happening(item.at, item.source, item.event)

    def hear(self, said: Said) -> None:
        """Let people react to what was just said."""
        # A second delivery of the same decision must not draw again.
        if said.decision_id in self._heard:
            return
        self._heard[said.decision_id] = None
        while len(self._heard) > _REMEMBERED:
            del self._heard[next(iter(self._heard))]
        self._mind_being_told(said)
        known = [each for each in self._open.values() if each.action == said.action]
        if known:
            self._put_right(said, known)

    def _put_right(self, said: Said, known: list[Concern]) -> None:
        """Put right what is open of the concerns that the advice is about, or report."""
        left = [each for each in known if each.name not in self._done | self._doing]
        if not left:
            if not any(each.name in self._doing for each in known):
                self._report(said, "cancelled", "it had been done already")
            return
        person = self._who_acts(said, left[0])
        if person is None:
            self._report(said, "failed", "nobody who heard it was there")
            return
        # By how often it was told, so that whatever else is said changes nothing.
        self._told[left[0].name] += 1
        key = f"follow {left[0].name} {self._told[left[0].name]}"
        if self._day.chance(key) >= self._follow:
            return
        at = self.now
        if self.situation.people[person].asleep:
            self._wake(person)
        for number, concern in enumerate(left, start=1):
            at += self._day.between(f"takes {concern.name}", *concern.takes_s)
            event = concern.right(person)
            if number == len(left):
                reason = f"{person} heard it and did it"
                event = events.answering(event, said.decision_id, "succeeded", reason)
            self._doing.add(concern.name)
            self._push(at, Entry(at, event, closes=concern.name))
        self._vote(at + 5, said, "positive", 0.5)

    def _wake(self, person: str) -> None:
        """Let somebody get up for a while."""
        awake = events.state(person, "is awake", asleep=False)
        asleep = events.state(person, "is asleep again", asleep=True)
        self._push(self.now, Entry(self.now, awake))
        self._push(self.now + _UP_S, Entry(self.now + _UP_S, asleep))

    def _who_acts(self, said: Said, concern: Concern) -> str | None:
        """Return who learns of it and can do something; None if nobody does."""
        for name in ("ben", "ada"):
            person = self.situation.people[name]
            woken = concern.wakes and person.is_home and said.channel == _ALOUD
            is_reader = _PERSONAL.get(said.channel, name) == name
            can_act = person.is_awake and person.activity != "call"
            if is_reader and (can_act or woken):
                return name
        return None

    def _mind_being_told(self, said: Said) -> None:
        """Let people judge the moment that it was said at."""
        if said.channel != _ALOUD or said.is_alert:
            return
        people = self.situation.people.values()
        wakes = any(each.is_home and each.asleep for each in people)
        disturbs = any(each.activity in _ENGAGED for each in people if each.is_home)
        if wakes or disturbs or self.situation.is_quiet(self.now):
            self._vote(self.now + 10, said, "negative", 0.7 if wakes else 0.4)

    def _vote(self, at: int, said: Said, rating: str, odds: float) -> None:
        if self._day.chance(f"vote {rating} {said.decision_id}") >= odds:
            return
        vote = FeedbackGiven(
            decision_id=said.decision_id,
            rating="positive" if rating == "positive" else "negative",
            aspect="overall" if rating == "positive" else "timing",
            channel="home",
        )
        self._push(at, Happening(at, PERSON, vote))

    def _report(self, said: Said, outcome: str, reason: str) -> None:
        event = events.report(said.action, said.decision_id, outcome, reason)
        self._push(self.now, Entry(self.now, event))

    def _push(self, at: int, item: Entry | Happening) -> None:
        if at >= DAY_S:
            return
        # The number keeps what is of one second in the order it was added.
        self._added += 1
        heapq.heappush(self._queue, (at, self._added, item))
