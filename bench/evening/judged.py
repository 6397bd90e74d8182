"""What the judge of an evening comes to: needs, annoyances, promises and questions."""

from dataclasses import dataclass
from typing import Literal

from bench.evening.matters import Wish, Worth
from bench.evening.playing import Course, Saying

Verdict = Literal["in time", "late", "kept", "lost", "moot"]
"""`kept`: not told, and on a list; `moot`: nobody could be told before it was over."""

Fault = Literal[
    "nobody",
    "garbled",
    "mute",
    "busy",
    "quiet",
    "unwanted",
    "repeated",
    "over",
    "needless",
    "remark",
]
"""Why something said annoys, worst first."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that must be said."""

    at: float
    step: int
    """Of the event that it is of."""
    what: str
    worth: Worth
    topic: str
    within_s: float
    ends: float
    words: tuple[str, ...]
    events: frozenset[str]
    """The answer to any of these tells of it."""
    verdict: Verdict = "moot"
    told: Saying | None = None
    is_held_back: bool = False
    """Whether it came about while it was not to be said."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A wish, and what became of it."""

    step: int
    wish: Wish
    is_set: bool
    is_agreed: bool
    broken: str = ""
    """By what; empty: it was kept."""

    @property
    def is_made(self) -> bool:
        """Whether the companion took it on."""
        return self.wish.ask not in ("unmute", "change") and (
            self.is_set or self.is_agreed
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of an evening."""

    course: Course
    needs: tuple[Need, ...]
    faults: tuple[tuple[Saying, Fault], ...]
    promises: tuple[Promise, ...]
    questions: tuple[tuple[int, bool], ...]
    """Each question by its step, and whether it was answered."""
