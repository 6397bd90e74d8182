"""Playback of a recorded session: its events and votes, under new ids.

Only inputs of sensors and people are played. Their ids are new, because the log drops
known ones as duplicates; references to old ids are changed to the new ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID, uuid5

import orjson
from msgspec.structs import replace

from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import EventRef, Sensed
from schemas.values.record import Wire
from schemas.values.subjects import parse, sensor_subject
from streams.session_files.file import SessionFile


@dataclass(frozen=True, slots=True)
class PlayedEvent:
    """An event to publish as its sensor would."""

    event: Sensed
    id: str
    wire: Wire


@dataclass(frozen=True, slots=True)
class PlayedVote:
    """A vote to give on the decision that answers an event."""

    event_id: str
    """The new id of that event."""
    given: FeedbackGiven
    """The vote; its decision id is still the recorded one."""


def played(
    session: SessionFile, agent: str, run: UUID
) -> Iterator[PlayedEvent | PlayedVote]:
    """Yield a session's inputs in order; new ids derive from `run` and the old ones."""
    occasions = _occasions(session)
    for record in session.records:
        if parse(record.subject).direction != "in":
            continue
        input_ = read_input(record)
        match input_.message:
            case Sensed() as event:
                yield _event(event, input_, agent, run, occasions)
            case FeedbackGiven(decision_id=str(decision_id)) as given:
                source_id = occasions[decision_id].event_id
                yield PlayedVote(_new_id(run, source_id), given)
            case _:
                pass


def _occasions(session: SessionFile) -> dict[str, EventRef]:
    """Return the event of each recorded decision, by decision id."""
    found = {}
    for record in session.records:
        place = parse(record.subject)
        if place.direction == "out" and place.detail == Decided.token:
            output = read_output(record)
            if isinstance(output.message, Decided):
                found[output.id] = EventRef(
                    source=output.message.source, event_id=output.message.event_id
                )
    return found


def _event(
    event: Sensed, input_: Input, agent: str, run: UUID, occasions: dict[str, EventRef]
) -> PlayedEvent:
    id_ = _new_id(run, input_.id)
    event = replace(event, in_reply_to=_new_reply(event.in_reply_to, run, occasions))
    body = orjson.dumps(event.changed(without=("source", "type")))
    return PlayedEvent(
        event=event,
        id=id_,
        wire=Wire(
            subject=sensor_subject(agent, event.source, event.type),
            headers={"ce-specversion": "1.0", "ce-id": id_},
            body=body,
        ),
    )


def _new_reply(
    reply: str | EventRef | None, run: UUID, occasions: dict[str, EventRef]
) -> str | EventRef | None:
    # A reply names a decision by its id, or an event by source and id.
    old = occasions.get(reply) if isinstance(reply, str) else reply
    if old is None:
        return reply
    return EventRef(source=old.source, event_id=_new_id(run, old.event_id))


def _new_id(run: UUID, old: str) -> str:
    # Derived from the old id, so that a reference is changed without a table of all events.
    return str(uuid5(run, old))
