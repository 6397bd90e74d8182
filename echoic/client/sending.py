"""Send a recording to a running instance: its events, and the votes of a session.

Inputs of sensors and people are sent under new ids; recorded outputs are not, since the
mind makes its own.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Unpack
from uuid import uuid4

from msgspec.structs import replace

from echoic.client import event_files, publish
from echoic.client.connection import Connection
from echoic.client.event_lines import NO_OPTIONS, Reading, Sending, read_lines
from echoic.client.playback import PlayedEvent, PlayedVote, played
from echoic.errors import EchoicError
from replay.recording.decisions import DecisionRecord
from schemas.codec.decode import read_output
from schemas.messages.notes import Quarantined
from schemas.values.subjects import input_subject, output_subject, partition_of
from streams.groups import answer, arrival
from streams.session_files.file import SessionFile, read_session

_ANSWERED_S = 10.0
"""Seconds that the mind may take to answer what was sent without waiting for it."""
_PAGE = 1_000

Item = Sending | PlayedVote


def read_file(path: Path, **how: Unpack[Reading]) -> Iterator[Item]:
    """Yield a file's items: those of a recorded session, or of records of events.

    A file is read to its end before its first event is yielded, so that one with a bad line
    sends nothing; what can be read but once, such as a pipe, is checked as it is read.

    Raises:
        EchoicError: it is no file of events, or a line is none.
        SessionFileError: a session file is damaged.
    """
    # Imported here: what replays loads much, and one event has no use for it.
    from echoic.client.recordings import is_recording, tell_altered

    if path.is_file() and is_recording(str(path)):
        if how.get("options", NO_OPTIONS).are_any:
            raise EchoicError(
                f"{path} is a recorded session, whose events are played as they are",
                next_step=f"echoic pub -f {path} --agent NAME",
            )
        session = read_session(path)
        tell_altered(str(path), session.altered)
        yield from _of_session(session, how["agent"] or how["default_agent"])
        return
    if path.is_file():
        for _ in _of_records(path, how):
            pass
    yield from _of_records(path, how)


def _of_records(path: Path, how: Reading) -> Iterator[Sending]:
    # Line ends as they are: CSV may hold them in its values.
    with path.open(encoding="utf-8-sig", newline="") as lines:
        try:
            yield from read_lines(lines, **how)
        except UnicodeDecodeError as error:
            raise EchoicError(
                f"{path} is no text in UTF-8: byte {error.object[error.start]:#04x} at"
                f" {error.start:,}",
                next_step=event_files.TAKES,
            ) from error


class Sender:
    """Sends items one after the other, and remembers them to wait for their answers."""

    def __init__(self, connection: Connection) -> None:
        """Send over a connection, which the caller closes."""
        self._connection = connection
        self._sent: dict[str, tuple[Sending, int]] = {}
        """Events by id, each with the end of the log before it."""

    async def event(self, sending: Sending) -> None:
        """Publish an event; return when the broker has acknowledged it.

        Raises:
            OverDayError: its source has used up its bytes of the day.
        """
        # Read before publishing, so that the wait for the answer starts before the event.
        after = await self._connection.log.last_sequence(
            f"ev.{partition_of(sending.agent)}.>"
        )
        await publish.publish_raw(
            self._connection.client,
            sending.subject,
            sending.wire_body,
            sending.wire_headers,
        )
        self._sent[sending.event_id] = sending, after

    async def answer(self, event_id: str) -> DecisionRecord:
        """Wait for the decision on an event that was sent.

        Raises:
            RefusedError: it was quarantined, or decided before.
        """
        sending, after = self._sent[event_id]
        return await publish.decided_on(
            self._connection.log,
            sending.agent,
            sending.source,
            sending.type,
            event_id,
            after,
        )

    async def quarantined(self) -> list[tuple[str, str]]:
        """Return the ids of events that the mind refused to decide on, and why.

        Raises:
            Unanswered: it has not answered all of them in time.
        """
        ends: dict[str, tuple[Sending, int]] = {}
        starts: dict[str, int] = {}
        for sending, after in self._sent.values():
            ends[sending.agent] = sending, after
            starts.setdefault(sending.agent, after)
        found: list[tuple[str, str]] = []
        for agent, (last, after) in ends.items():
            await self._answered(last, after)
            found += await self._refused(agent, starts[agent])
        return found

    async def _answered(self, sending: Sending, after: int) -> None:
        """Wait until the mind has answered an event, and so all that came before it."""
        log, partition = self._connection.log, partition_of(sending.agent)
        detail = f"{sending.source}.{sending.type}"
        subject = input_subject(partition, sending.agent, "sensor", detail)
        stored = await arrival(log, subject, sending.event_id, after, _ANSWERED_S)
        await answer(log, partition, stored.sequence, _ANSWERED_S)

    async def _refused(self, agent: str, after: int) -> list[tuple[str, str]]:
        subject = output_subject(partition_of(agent), agent, "note", Quarantined.token)
        found: list[tuple[str, str]] = []
        while page := await self._connection.log.page(subject, after, _PAGE):
            after = page[-1].sequence
            notes = map(read_output, page)
            found += [
                (each.mark.cause_id, f"quarantined ({note.reason}): {note.detail}")
                for each in notes
                if each.mark.cause_id in self._sent
                and isinstance(note := each.message, Quarantined)
            ]
        return found

    async def vote(self, vote: PlayedVote) -> None:
        """Give a recorded vote on the new decision about the same event."""
        # The recorded decision has another id here: the vote waits for
        # the one that takes its place.
        record = await self.answer(vote.event_id)
        given = replace(vote.given, decision_id=record.id)
        await publish.tell(self._connection.log, record.agent, given)


def _of_session(session: SessionFile, agent: str) -> Iterator[Item]:
    for item in played(session, agent, uuid4()):
        match item:
            case PlayedEvent(event=event, id=id_, wire=wire):
                yield Sending(
                    agent=agent,
                    source=event.source,
                    type=event.type,
                    event_id=id_,
                    body=json.loads(wire.body),
                    headers={},
                    at=event.occurred_at,
                )
            case PlayedVote():
                yield item
