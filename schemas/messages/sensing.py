"""Sensor events, a person's words among them.

A person's words are a `Sensed` of source `user` and type `message`. A report on advice is
a `Sensed` with `in_reply_to` and an outcome.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import Meta
from msgspec.structs import replace
from pydantic import AfterValidator, BeforeValidator

from schemas.values import persons
from schemas.values.base import (
    AS_A_WHOLE,
    Kind,
    Message,
    MessagePart,
    Moment,
    Name,
    Personal,
    PersonalName,
    Seconds,
    Signed,
    Unit,
    written,
)
from schemas.values.persons import PersonToken
from schemas.values.reasons import ReportedOutcome, reported

Dimension = Literal[
    "threat",
    "opportunity",
    "goal_relevance",
    "novelty",
    "actionability",
    "social",
    "humor",
]
Intent = Literal["actionable", "informational"]
Fields = dict[str, Any]

PERSON = "user"
"""The source that a person is."""
SOMEBODY = "unknown"
"""The person of words whose speaker nobody named."""
PERSONS_WORDS = "message"
"""The type of what a person says."""

TEXT_LIMIT = 8_000
"""How many characters an event's text may have."""


def in_utc(at: datetime) -> datetime:
    """Return a time in UTC; refuse one that no span may be added to."""
    # At the ends of the calendar adding a span of time would overflow `datetime`.
    if not 1000 < at.year < 9000:
        raise ValueError("the year must lie between 1001 and 8999")
    return at.astimezone(UTC)


OfCalendar = Annotated[Moment, AfterValidator(in_utc)]
"""A time that spans may be added to, kept in UTC."""


class EventRef(MessagePart, frozen=True, kw_only=True):
    """Another event of the same agent, as its sensor knows it."""

    source: Name
    """The sensor that sent it."""
    event_id: Name
    """Its `ce-id`."""


class Sensed(Message, frozen=True, kw_only=True):
    """A sensor noticed something, or a person said something."""

    kind: ClassVar[Kind] = "sensor"
    token: ClassVar[str] = "sensed"

    source: str = ""
    """Who noticed it; filled from the subject."""
    type: str = ""
    """What sort of thing it is; filled from the subject."""
    text: Annotated[Personal, Meta(min_length=1, max_length=TEXT_LIMIT)]
    """The event in natural language."""
    fields: Annotated[Fields, AS_A_WHOLE] = written({})
    """The event's values, for conditions and patterns."""
    occurred_at: OfCalendar | None = None
    """When it happened; the clock of a session opened with `clock=event`."""
    salience: dict[Dimension, Unit] = written({})
    """The sensor's hints on why this may matter."""
    intent: Intent | None = None
    """`informational` events are recorded and never answered."""
    urgency: Unit | None = None
    """How soon an answer is worth having: 0 whenever, 1 at once."""
    sentiment: Signed | None = None
    """How it feels to the person, -1 bad to 1 good."""
    entities: Annotated[tuple[PersonalName, ...], Meta(max_length=64)] = written(())
    """Who or what takes part."""
    immediate: bool = written(True)
    """False asks for a learned answer or none, never for a model's."""
    ttl_s: Seconds | None = None
    """After so many seconds an answer is stale and is not said."""
    in_reply_to: Name | EventRef | None = None
    """The decision this reports on: its id, or the event that it answered."""
    outcome: Annotated[ReportedOutcome, BeforeValidator(reported)] | None = None
    """How what was advised turned out."""
    reason: Annotated[Personal, Meta(max_length=500)] | None = None
    """Why it turned out so."""
    person: PersonToken | None = None
    """Who says it, or whom it is about; None: nobody in particular. A name of any script
    may be given: its token is derived, and the name kept."""
    called: PersonalName | None = None
    """The person's name, where a token was derived from it."""
    microphone: bool = False
    """Whether a microphone heard these words: they may be the companion's own, or none at
    all, and are not answered then."""
    evaluation_data: Annotated[Any, AS_A_WHOLE] = None
    """Ground truth for evaluation; kept, never shown to a model."""

    def settled(self) -> Self:
        """Return it with its time in UTC; refuse one at the ends of the calendar."""
        at = self.occurred_at
        return self if at is None else replace(self, occurred_at=in_utc(at))

    @classmethod
    def prepared(cls, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields with a token for the person."""
        return persons.told(fields)

    def feels(self, of_words: Callable[[str], float | None]) -> float | None:
        """Return how it feels to its person: as its sensor says, else by own words."""
        is_told = self.sentiment is not None or not self.is_persons
        return self.sentiment if is_told else of_words(self.text)

    @property
    def is_persons(self) -> bool:
        """Whether a person says it to the companion."""
        return self.source == PERSON and self.type == PERSONS_WORDS

    @property
    def speaker(self) -> str | None:
        """The person who says it; None if these are not a person's words."""
        return (self.person or SOMEBODY) if self.is_persons else None
