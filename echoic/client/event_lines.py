"""Events to publish, read from text or lines of JSON; each reading makes new ids.

Pure. A reply to an earlier event of the same recording refers to that event's new id.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from echoic.errors import EchoicError
from schemas.codec.decode import BODY_LIMIT
from schemas.values.subjects import sensor_subject

_HEADER_KEYS = ("agent", "source", "type", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """One message to be published on a sensor's subject."""

    agent: str
    source: str
    type: str
    event_id: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    at: datetime | None
    """When it happened in the recording."""

    @property
    def subject(self) -> str:
        """The subject to publish it on."""
        return sensor_subject(self.agent, self.source, self.type)

    @property
    def wire_headers(self) -> dict[str, str]:
        """Its headers, with its id under CloudEvents' name."""
        return {
            **self.headers,
            "ce-id": self.event_id,
            "content-type": "application/json",
        }

    @property
    def wire_body(self) -> bytes:
        """Its body as UTF-8 JSON."""
        return json.dumps(self.body, ensure_ascii=False).encode()


def read_lines(
    lines: Iterable[str],
    *,
    agent: str | None,
    default_agent: str,
    new_id: Callable[[], str],
) -> Iterator[Sending]:
    """Yield an event for each line: a recorded message, a plain JSON event, or bare text.

    A recorded message is `{"subject", "headers", "body"}`; a plain event has `text` and,
    if it likes, `agent`, `source`, `type`, `id`. `agent` wins over what a line says.

    Raises:
        EchoicError: a line is none of these; it is named by its number.
    """
    ids: dict[tuple[str, str], str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = _fields(line)
            sending = _sending(fields, agent, default_agent, ids, new_id)
        # Lines are anybody's JSON: fields of the wrong kind fail in these three ways.
        except (ValueError, TypeError, AttributeError) as error:
            raise EchoicError(
                f"line {number} is no event: {error}",
                next_step="a line is text, or JSON such as"
                ' {"source": "door", "type": "bell", "text": "The bell rings"}',
            ) from error
        yield sending


def _fields(line: str) -> dict[str, Any]:
    if not line.lstrip().startswith("{"):
        return {"text": line.strip()}
    fields: dict[str, Any] = orjson.loads(line)
    return fields


def _sending(
    fields: dict[str, Any],
    agent: str | None,
    default_agent: str,
    ids: dict[tuple[str, str], str],
    new_id: Callable[[], str],
) -> Sending:
    if "subject" in fields:
        fields = _recorded(fields)
    headers: dict[str, str] = fields.pop("headers", {})
    named = {key: fields.pop(key, None) for key in _HEADER_KEYS}
    source, old = named["source"] or "user", named["id"]
    event_id = new_id()
    if old is not None:
        # Under both, as an id is unique within its source only.
        ids[source, old] = event_id
    if not isinstance(fields.get("text", ""), str):
        raise ValueError("its text is no text")
    sending = Sending(
        agent=agent or named["agent"] or default_agent,
        source=source,
        type=named["type"] or "message",
        event_id=event_id,
        body=_with_new_reference(fields, ids),
        headers=headers,
        at=_moment(fields.get("occurred_at") or headers.get("ce-time")),
    )
    # For its check alone: a name that is no token fails here, under its line's number.
    sensor_subject(sending.agent, sending.source, sending.type)
    if (size := len(sending.wire_body)) > BODY_LIMIT:
        raise ValueError(f"it has {size:,} bytes, the limit is {BODY_LIMIT:,}")
    return sending


def _recorded(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded message as the fields of a plain event."""
    parts = str(message["subject"]).split(".")
    if len(parts) != 4 or parts[0] != "in":
        raise ValueError(f"subject {message['subject']!r} is no sensor's")
    headers = dict(message.get("headers") or {})
    return {
        **message["body"],
        "agent": parts[1],
        "source": parts[2],
        "type": parts[3],
        # Taken out of the headers: under its recorded id the log
        # would drop it as a duplicate.
        "id": headers.pop("ce-id", None),
        "headers": headers,
    }


def _with_new_reference(
    body: dict[str, Any], ids: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Return the body with its reference changed to the earlier event's new id."""
    reference = body.get("in_reply_to")
    if not isinstance(reference, dict):
        return body
    known = ids.get((str(reference.get("source")), str(reference.get("event_id"))))
    if known is None:
        return body
    return {**body, "in_reply_to": {**reference, "event_id": known}}


def _moment(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None
