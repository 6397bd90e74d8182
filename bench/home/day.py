"""A day as it is judged: what happened, what was said, and how people stood meanwhile."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from packs.home.sensor.situation import Situation
from schemas.codec.decode import read_input, read_output
from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.results import DeliveryFailed
from schemas.messages.sensing import Sensed
from schemas.values.reasons import ResponseType
from schemas.values.record import Record
from streams.session_files.file import SessionFile


@dataclass(frozen=True, slots=True)
class Happened:
    """One event."""

    id: str
    at: float
    """Seconds since midnight."""
    event: Sensed


@dataclass(frozen=True, slots=True)
class Saying:
    """One thing that the companion said."""

    at: float
    text: str
    channel: str
    type: ResponseType
    answers: tuple[str, ...]
    """The ids of the events that it answers."""


@dataclass(frozen=True)
class Day:
    """What happened and what was said, each in order."""

    happened: Sequence[Happened]
    sayings: Sequence[Saying]

    @cached_property
    def situations(self) -> tuple[tuple[float, Situation], ...]:
        """The situation after each event, with the event's time."""
        return tuple(self._situations())

    def _situations(self) -> Iterator[tuple[float, Situation]]:
        now = Situation()
        for each in self.happened:
            now = now.after(each.event, each.at)
            yield each.at, now

    def at(self, second: float) -> Situation:
        """Return the situation after all that happened up to a second of the day."""
        index = bisect_right(self.situations, second, key=lambda each: each[0])
        return self.situations[index - 1][1] if index else Situation()

    @cached_property
    def events(self) -> dict[str, Happened]:
        """The events, by id."""
        return {each.id: each for each in self.happened}


def of_session(session: SessionFile) -> Day:
    """Return the day that a session recorded, which began at midnight by its own clock."""
    reader = _Reader()
    for record in session.records:
        reader.take(record)
    return Day(tuple(reader.happened), tuple(reader.said()))


class _Reader:
    """Goes through the records of a session, in order."""

    def __init__(self) -> None:
        self.happened: list[Happened] = []
        self._midnight: datetime | None = None
        self._asked: dict[str, tuple[datetime, DeliveryAsked]] = {}
        self._event_of: dict[str, str] = {}
        self._also: dict[str, tuple[str, ...]] = {}

    def take(self, record: Record) -> None:
        """Note what a record tells of the day."""
        if record.subject.split(".", 3)[2] == "in":
            self._input(record)
        elif record.subject.endswith(_READ):
            self._output(record)

    def said(self) -> Iterator[Saying]:
        """Yield what was asked to be said and did not fail, in order."""
        for at, asked in self._asked.values():
            also = self._also.get(asked.decision_id, ())
            events = (self._event_of[each] for each in also if each in self._event_of)
            yield Saying(
                at=self._seconds(at),
                text=asked.text,
                channel=asked.channel,
                type=asked.response_type,
                answers=(asked.event_id, *events),
            )

    def _input(self, record: Record) -> None:
        input_ = read_input(record)
        match input_.message:
            case Sensed(occurred_at=datetime() as at) as event:
                self._midnight = self._midnight or at
                self.happened.append(Happened(input_.id, self._seconds(at), event))
            case DeliveryFailed(ask_id=failed):
                self._asked.pop(failed, None)
            case _:
                pass

    def _output(self, record: Record) -> None:
        output = read_output(record)
        match output.message:
            case Decided(event_id=event_id):
                self._event_of[output.id] = event_id
            case Completed(decision_id=decision_id, also_answers=also):
                self._also[decision_id] = also
            case DeliveryAsked() as asked:
                self._asked[output.id] = output.at, asked
            case _:
                pass

    def _seconds(self, at: datetime) -> float:
        return (at - (self._midnight or at)).total_seconds()


_READ = tuple(f".{each.token}" for each in (Decided, Completed, DeliveryAsked))
