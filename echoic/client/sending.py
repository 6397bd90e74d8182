"""Send a recording to a running instance: its events, and the votes of a session.

Inputs of sensors and people are sent under new ids; recorded outputs are not, since the
mind makes its own.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

from echoic.client import publish
from echoic.client.connection import Connection
from echoic.client.event_lines import Sending, read_lines
from echoic.client.playback import PlayedEvent, PlayedVote, played
from echoic.errors import EchoicError
from echoic.packs import bundled
from replay.recording.decisions import DecisionRecord
from schemas.values.subjects import partition_of
from streams.session_files.file import read_session

_ZSTD = b"\x28\xb5\x2f\xfd"
"""The magic number of Zstandard frames, with which session files begin."""

Item = Sending | PlayedVote


def read_file(
    path: Path, *, agent: str | None, default_agent: str, new_id: Callable[[], str]
) -> Iterator[Item]:
    """Yield a file's items: those of a recorded session, or of lines of events.

    Raises:
        EchoicError: a line is no event.
        SessionFileError: a session file is damaged.
    """
    with path.open("rb") as file:
        is_session = file.read(4) == _ZSTD
    if is_session:
        yield from _of_session(path, agent or default_agent)
        return
    with path.open(encoding="utf-8") as lines:
        try:
            yield from read_lines(
                lines, agent=agent, default_agent=default_agent, new_id=new_id
            )
        except UnicodeDecodeError as error:
            raise EchoicError(f"{path} is no text: {error}") from error


class Sender:
    """Sends items one after the other, and remembers them to wait for their answers."""

    def __init__(self, connection: Connection) -> None:
        """Send over a connection, which the caller closes."""
        self._connection = connection
        self._sent: dict[str, tuple[Sending, int]] = {}
        """Events by id, each with the end of the log before it."""

    async def event(self, sending: Sending) -> None:
        """Publish an event; return when the broker has acknowledged it."""
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

    async def vote(self, vote: PlayedVote) -> None:
        """Give a recorded vote on the new decision about the same event."""
        # The recorded decision has another id here: the vote waits for
        # the one that takes its place.
        record = await self.answer(vote.event_id)
        given = vote.given.model_copy(update={"decision_id": record.id})
        await publish.tell(self._connection.log, record.agent, given)


def _of_session(path: Path, agent: str) -> Iterator[Item]:
    for item in played(read_session(bundled.found(path)), agent, uuid4()):
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
