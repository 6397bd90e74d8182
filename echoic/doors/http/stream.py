"""Server-sent events: what an agent's mind puts out, resumed by sequence."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from echoic.doors.http.door import Door, door_of, may_read, readable
from echoic.doors.http.tokens import AccessToken
from schemas.codec.decode import read_output
from schemas.values.record import Record
from schemas.values.subjects import output_subject, parse, partition_of

router = APIRouter(prefix="/v1/agents/{agent}", tags=["reading"])

_AT_ONCE = 100
"""Messages in one read of the log; no more are held for a client that reads slowly."""


_Kind = Literal["decision", "fire", "outcome", "learning"]


async def _position(
    after: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
    last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,18}$")] = None,
) -> int | None:
    """Return the sequence after which a stream begins; None: now."""
    return int(last_event_id) if last_event_id is not None else after


async def _counted(
    door: Annotated[Door, Depends(door_of)],
    token: Annotated[AccessToken, Depends(may_read)],
) -> AsyncIterator[AccessToken]:
    """Count an open stream until its client is gone."""
    with door.limits.stream(token):
        yield token


@router.get("/stream", response_class=EventSourceResponse)
async def get_stream(
    agent: Annotated[str, Depends(readable)],
    token: Annotated[AccessToken, Depends(_counted)],
    door: Annotated[Door, Depends(door_of)],
    begin: Annotated[int | None, Depends(_position)],
    kind: _Kind = "decision",
) -> AsyncIterator[ServerSentEvent]:
    """Stream an agent's decisions as they are made, with their endings.

    The id of each is its sequence in the log: a client that sends the last one as
    `Last-Event-ID`, as browsers do, gets what came since, and nothing twice. `after` says the
    same in the address; without either it begins now.
    """
    log = door.connection.log
    subjects = output_subject(partition_of(agent), agent, kind, "*")
    if begin is None:
        begin = await log.last_sequence(subjects)
    async for records in log.follow(subjects, begin, _AT_ONCE):
        for record in records:
            # Nothing more goes out once the token was revoked.
            if not door.tokens.holds(token):
                return
            yield _event(record)


def _event(record: Record) -> ServerSentEvent:
    output = read_output(record)
    told = {
        "id": output.id,
        "agent": output.agent,
        "at": output.at.isoformat(),
        "cause_sequence": output.mark.cause_sequence,
        "message": orjson.loads(record.body),
    }
    return ServerSentEvent(
        raw_data=orjson.dumps(told).decode(),
        event=parse(record.subject).detail,
        id=str(record.sequence),
    )
