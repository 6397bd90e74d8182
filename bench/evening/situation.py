"""Who is there, at what, and what they asked for, at each moment of an evening; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bench.evening.grammar import HOUR_S
from bench.evening.matters import Step, Wish, Worth


@dataclass(frozen=True, slots=True)
class Situation:
    """How things are at a moment."""

    home: frozenset[str] = frozenset()
    busy: Mapping[str, str] = field(default_factory=dict)
    """What each is at who is at something."""
    quiet_until: float = 0.0
    mute_until: float = 0.0
    unwanted: frozenset[str] = frozenset()

    def is_engaged(self) -> bool:
        """Whether somebody there is in a call, or types."""
        return any(self.busy.get(each) for each in self.home)

    def is_open(self, worth: Worth, at: float, topic: str = "") -> bool:
        """Whether something of a worth may be said now."""
        if not self.home or at < self.mute_until:
            return False
        if worth == "alert":
            return True
        if at < self.quiet_until or topic in self.unwanted:
            return False
        return worth == "urgent" or not self.is_engaged()

    def after(self, at: float, step: Step) -> "Situation":
        """Return how things are after something happened."""
        truth = step.truth
        now = self._of_person(step) if truth.person else self
        match truth.wish:
            case Wish(ask="quiet", until=float(until)):
                return replace(now, quiet_until=until)
            case Wish(ask="mute", until=until):
                return replace(now, mute_until=HOUR_S * 2 if until is None else until)
            case Wish(ask="unmute"):
                return replace(now, mute_until=at)
            case Wish(ask="suppress", topic=topic):
                return replace(now, unwanted=now.unwanted | {topic})
            case _:
                return now

    def _of_person(self, step: Step) -> "Situation":
        told = step.truth.person
        name = str(told.get("of") or step.event.person)
        home = self.home
        if "home" in told:
            home = home | {name} if told["home"] else home - {name}
        busy = {**self.busy, name: str(told.get("busy", self.busy.get(name, "")))}
        return replace(self, home=home, busy=busy)
