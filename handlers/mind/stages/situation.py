"""The situation in which a model is asked: where and when, what is wanted, what is not."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from schemas.values.prompt_fencing import fenced, shown
from schemas.values.reasons import ResponseType

_CAP = 200
"""The most characters of each text of others."""

_NOW = "It is {weekday}, {day} {month} {year}, {time}, {part}."
_PLACE = "You are here: {place}."
_TAKES_PART = "What goes on: {context}."
_LEFT_OUT = "The person does not want to hear of this, so leave it out: {topic}"
_LENGTH = "Use {words} words at most."
_SERIOUS = "No jokes now, and no irony, whatever your character."
_OF_TYPE: Mapping[ResponseType, str] = {
    "alert": "A warning is wanted: say plainly what is wrong, and what is to be done.",
    "quip": "A short remark with wit is wanted.",
    "observation": "A remark is wanted, and no advice.",
    "suggestion": "Where something can be done about it, suggest that.",
}
TEMPLATES = (
    _NOW, _PLACE, _TAKES_PART, _LEFT_OUT, _LENGTH, _SERIOUS,
    *_OF_TYPE.values(),
)  # fmt: skip
"""Our own words in what a model is told of its situation, which are part of the arm."""
_WEEKDAYS = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December",
)  # fmt: skip
_PARTS = ((5, "at night"), (12, "in the morning"), (18, "in the afternoon"))
"""Parts of the day, up to which hour."""
_NIGHT = 22


@dataclass(frozen=True, slots=True)
class Surroundings:
    """In which situation a model is asked."""

    now: datetime
    """In the zone of the settings."""
    place: str = ""
    context: str | None = None
    """What the companion takes part in, if somebody said so."""
    type: ResponseType = "suggestion"
    """What sort of answer is wanted."""
    is_serious: bool = False
    """Whether nobody jokes."""
    longest: int | None = None
    """How many words suit the character, if there is one."""
    left_out: tuple[str, ...] = ()
    """Of what the person does not want to hear."""
    is_spoken: bool = False
    """Whether a person's own words are answered."""

    def told(self) -> str:
        """Return what a model is told of it."""
        now = self.now
        part = next(
            (name for hour, name in _PARTS if now.hour < hour), "in the evening"
        )
        at = _NOW.format(
            weekday=_WEEKDAYS[now.weekday()],
            day=now.day,
            month=_MONTHS[now.month - 1],
            year=now.year,
            time=f"{now.hour:02}:{now.minute:02}",
            part="at night" if now.hour >= _NIGHT else part,
        )
        # Who speaks wants an answer, of whatever sort.
        is_sorted = not self.is_spoken or self.type == "alert"
        first = (
            at,
            _PLACE.format(place=shown(self.place, _CAP)) if self.place else "",
            _TAKES_PART.format(context=self.context) if self.context else "",
        )
        then = (
            _OF_TYPE.get(self.type, "") if is_sorted else "",
            _LENGTH.format(words=self.longest) if self.longest else "",
            _SERIOUS if self.is_serious else "",
        )
        topics = (_LEFT_OUT.format(topic=fenced(e, _CAP)) for e in self.left_out)
        lines = (" ".join(filter(None, first)), *topics, " ".join(filter(None, then)))
        return "\n".join(filter(None, lines))
