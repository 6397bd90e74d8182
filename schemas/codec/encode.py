"""From messages to bytes: the headers and the body that the log stores."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from schemas.codec.catalogue import InputMessage, OutputMessage
from schemas.codec.envelope import Mark
from schemas.values import ids, subjects
from schemas.values.base import AnyMessage, rfc3339
from schemas.values.record import Wire

_TYPE_PREFIX = "echoic."


def write_input(
    message: InputMessage, *, agent: str, partition: int, id_: str, source: str
) -> Wire:
    """Encode an input of our own, such as a control; sensors encode theirs."""
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
    return Wire(
        subject=subjects.output_subject(partition, agent, message.kind, message.token),
        headers={
            # CloudEvents attributes as headers (binary mode); the group mark is extensions.
            **_headers(message, agent, id_, "/echoic/mind"),
            "ce-time": rfc3339(at),
            "ce-causeseq": str(mark.cause_sequence),
            "ce-causeid": mark.cause_id,
            "ce-index": str(mark.index),
            "ce-count": str(mark.count),
        },
        body=message.to_bytes(),
    )


def wire_digest(subject: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return the 12 bytes by which a message enters the chain, over subject, ce- headers
    and body.
    """
    names = _ce_names(tuple(headers))
    attributes = "\n".join([f"{name}:{headers[name]}" for name in names])
    return ids.raw_digest(subject.encode(), attributes.encode(), body)


# Nearly all messages have one of a few sets of headers.
@lru_cache(maxsize=1024)
def _ce_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the headers that enter the chain, sorted.

    Others are the transport's and may differ between two copies of one message.
    """
    return tuple(sorted(name for name in names if name[:3] == "ce-"))


def _headers(message: AnyMessage, agent: str, id_: str, source: str) -> dict[str, str]:
    return {
        "ce-specversion": "1.0",
        "ce-id": id_,
        "ce-type": _TYPE_PREFIX + message.token,
        "ce-source": source,
        "ce-subject": agent,
        "ce-schemaversion": str(message.version),
    }
