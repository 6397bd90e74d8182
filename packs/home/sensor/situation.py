"""Who is where in the home, and doing what: folded from the sensor's own events.

Pure. The simulated people react by it, and whoever judges a day reads a recording by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from schemas.messages.sensing import Sensed

RESIDENTS = ("ada", "ben")
GUESTS = ("cleo",)
PEOPLE = (*RESIDENTS, *GUESTS)

_OUT = "out"
"""The room of whoever is not at home."""


@dataclass(frozen=True, slots=True)
class Person:
    """What the home knows of one person; at first that nobody of the name is there."""

    room: str = _OUT
    asleep: bool = False
    busy: bool = False
    typing: bool = False
    activity: str = ""

    @property
    def is_home(self) -> bool:
        """Whether the person is in the house."""
        return self.room != _OUT

    @property
    def is_awake(self) -> bool:
        """Whether the person is in the house and awake."""
        return self.is_home and not self.asleep

    @property
    def is_free(self) -> bool:
        """Whether the person is awake and not busy with anything."""
        return self.is_awake and not (self.busy or self.typing)


@dataclass(frozen=True, slots=True)
class Situation:
    """All people at one moment, and what they asked of the companion."""

    people: Mapping[str, Person] = field(
        default_factory=lambda: dict.fromkeys(PEOPLE, Person())
    )
    quiet_until: float = 0.0
    """Until which second of the day somebody wants quiet."""
    unwanted: frozenset[str] = frozenset()
    """Topics that somebody does not want to hear of again."""

    def after(self, event: Sensed, at: float) -> "Situation":
        """Return the situation after an event `at` so many seconds since midnight."""
        match event.type:
            case "presence_changed":
                return self._with(event, room=event.fields["room"])
            case "user_state":
                names = ("asleep", "busy", "typing", "activity")
                told = {
                    name: event.fields[name] for name in names & event.fields.keys()
                }
                return self._with(event, **told)
            case "message":
                return self._asked(event, at)
            case _:
                return self

    def is_quiet(self, at: float) -> bool:
        """Tell whether somebody asked for quiet and still wants it."""
        return at < self.quiet_until

    def home(self) -> tuple[str, ...]:
        """Return who is in the house."""
        return tuple(name for name, each in self.people.items() if each.is_home)

    def awake(self) -> tuple[str, ...]:
        """Return who is in the house and awake."""
        return tuple(name for name, each in self.people.items() if each.is_awake)

    def _with(self, event: Sensed, **changes: object) -> "Situation":
        name = str(event.fields["person"])
        before = self.people.get(name, Person())
        changed = replace(before, **changes)  # type: ignore[arg-type]  # as the events have them
        return replace(self, people={**self.people, name: changed})

    def _asked(self, event: Sensed, at: float) -> "Situation":
        """Return the situation after a person's words; what they mean is the truth told."""
        truth = event.evaluation_data
        if not isinstance(truth, dict):
            return self
        if truth.get("asks") == "quiet":
            minutes = float(str(truth["minutes"]))
            return replace(self, quiet_until=at + 60 * minutes)
        if truth.get("asks") == "stop":
            return replace(self, unwanted=self.unwanted | {str(truth["topic"])})
        return self
