"""From messages to bytes: the headers and the body that the log stores."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from uuid import UUID

from schemas.codec.catalogue import InputMessage, OutputMessage
from schemas.codec.envelope import Mark
from schemas.values import ids, subjects
from schemas.values.base import Message, rfc3339
from schemas.values.record import Wire

_TYPE_PREFIX = "echoic."


def write_input(
    message: InputMessage, *, agent: str, partition: int, id_: str, source: str
) -> Wire:
    """Encode an input of our own, such as a control; sensors encode theirs.

    Raises:
        pydantic.ValidationError: a field is of the wrong type, or beyond its limits.
    """
    message = message.checked()
    return Wire(
        subject=subjects.input_subject(partition, agent, message.kind, message.token),
        headers=_headers(message, agent, id_, source),
        body=message.to_bytes(),
    )


def write_output(
    message: OutputMessage,
    *,
    agent: str,
    partition: int,
    epoch: UUID,
    mark: Mark,
    at: datetime,
) -> Wire:
    """Encode an output with its group mark.

    The same output to the same cause gets the same bytes and the same id each time: the
    read-back after a doubtful write, and verify, compare them.
    """
    id_ = ids.output_id(epoch, mark.cause_sequence, mark.index)
    headers = _headers(message, agent, id_, "/echoic/mind")
    # CloudEvents attributes as headers (binary mode); the group mark is extensions.
    headers["ce-time"] = rfc3339(at)
    headers["ce-causeseq"] = str(mark.cause_sequence)
    headers["ce-causeid"] = mark.cause_id
    headers["ce-index"] = str(mark.index)
    headers["ce-count"] = str(mark.count)
    return Wire(
        subject=subjects.output_subject(partition, agent, message.kind, message.token),
        headers=headers,
        body=message.to_bytes(),
    )


def wire_digest(subject: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return the 12 bytes by which a message enters the chain, over subject, ce- headers
    and body.
    """
    attributes = _ce_lines(tuple(headers))(headers)
    return ids.raw_digest(subject.encode(), attributes.encode(), body)


# Nearly all messages have one of a few sets of headers.
@lru_cache(maxsize=1024)
def _ce_lines(names: tuple[str, ...]) -> Callable[[Mapping[str, str]], str]:
    """Return what writes the headers that enter the chain: `name:value`, sorted by name.

    Others are the transport's and may differ between two copies of one message.
    """
    known = sorted(name for name in names if name[:3] == "ce-")
    if not known:
        return lambda headers: ""
    # To fill in a format takes half the time of joining lines. `%` may be part of a name.
    lines = "\n".join([name.replace("%", "%%") + ":%s" for name in known])
    values = itemgetter(*known)
    return lambda headers: lines % values(headers)


def _headers(message: Message, agent: str, id_: str, source: str) -> dict[str, str]:
    return {
        "ce-specversion": "1.0",
        "ce-id": id_,
        "ce-type": _TYPE_PREFIX + message.token,
        "ce-source": source,
        "ce-subject": agent,
        "ce-schemaversion": str(message.version),
    }
