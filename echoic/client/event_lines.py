"""Events to publish, read from the records of a file; each reading makes new ids.

Pure. A reply to an earlier event of the same recording refers to that event's new id.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Required, TypedDict, Unpack

from echoic.client import admission, event_files
from echoic.errors import EchoicError
from schemas.codec import payload
from schemas.messages.sensing import PERSON, PERSONS_WORDS, Sensed
from schemas.values import timezones
from schemas.values.subjects import sensor_subject

_HEADER_KEYS = ("agent", "source", "type", "id")
_PARTS = frozenset(_HEADER_KEYS) | frozenset(Sensed.__struct_fields__) - {"fields"}
"""What a record may say of an event besides its fields."""
_FIELDS = "fields."
"""The beginning of a name that means one of an event's fields."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_COLUMN = re.compile(r"\{([^{}]+)\}")


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
    def unread(self) -> list[str]:
        """The names in its body that no event has: they are kept, and nothing reads them."""
        return [each for each in self.body if each not in Sensed.__struct_fields__]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What holds for every record of a file, and wins over what a record says itself."""

    event: Mapping[str, Any] = field(default_factory=dict)
    """Source, type, person, hints … of each event."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of each event, besides its own."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Which column is what; a column is its name, or a text with `{name}` in it."""
    zone: str | None = None
    """The time zone of times that name none."""

    @property
    def are_any(self) -> bool:
        """Whether anything is to be changed."""
        return bool(self.event or self.fields or self.columns or self.zone)


NO_OPTIONS = Options()


class Reading(TypedDict, total=False):
    """How records become events."""

    agent: Required[str | None]
    """It wins over what a record says."""
    default_agent: Required[str]
    new_id: Required[Callable[[], str]]
    options: Options


def is_part(name: str) -> bool:
    """Tell whether a column may be mapped to a name: a part of an event, or a field."""
    return name in _PARTS or (name.startswith(_FIELDS) and name != _FIELDS)


def read_lines(lines: Iterable[str], **how: Unpack[Reading]) -> Iterator[Sending]:
    """Yield an event for each record of a file or a stream.

    Raises:
        EchoicError: this is no file of events, or a record is none; its place is named.
    """
    options = how.get("options", NO_OPTIONS)
    records = event_files.records(lines, is_table=bool(options.columns))
    return read_records(records, **how)


def read_records(
    records: Iterable[tuple[event_files.Place, event_files.Record]],
    **how: Unpack[Reading],
) -> Iterator[Sending]:
    """Yield an event for each record: a recorded message, a plain event, or bare text.

    A recorded message is `{"subject", "headers", "body"}`; a plain event has `text` and,
    if it likes, `agent`, `source`, `type`, `id`.

    Raises:
        EchoicError: a record is no event; its place is named.
    """
    ids: dict[tuple[str, str], str] = {}
    options = how.get("options", NO_OPTIONS)
    for place, record in records:
        try:
            sending = _sending(_told(record, options), ids, how)
            _check(sending)
        # Lines are anybody's JSON: fields of the wrong kind fail in these ways.
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            is_zone = isinstance(error, _NoZoneError)
            why = "it is no text in UTF-8" if isinstance(error, UnicodeError) else error
            raise EchoicError(
                f"{place} is no event: {why}",
                next_step=_ZONE_STEP if is_zone else event_files.EXAMPLE,
            ) from error
        yield sending


def _told(record: event_files.Record, options: Options) -> dict[str, Any]:
    """Return a record as the fields of a plain event, options included."""
    if isinstance(record, str):
        told: dict[str, Any] = {"text": record}
        kind = {"source": PERSON, "type": PERSONS_WORDS} | dict(options.event)
        # It matters because a person says it.
        if (kind["source"], kind["type"]) == (PERSON, PERSONS_WORDS):
            told["salience"] = {"social": 0.9}
    elif options.columns:
        told = _mapped(record, options.columns)
    elif "subject" in record:
        told = _recorded(record)
    else:
        told = _plain(record, options)
    told |= options.event
    if options.fields:
        told["fields"] = {**told.get("fields", {}), **options.fields}
    for name, holder in (("occurred_at", told), ("ce-time", told.get("headers", {}))):
        if isinstance(text := holder.get(name), str):
            holder[name] = _zoned(name, text, options.zone)
    return told


def _plain(record: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """Return an event as it is, and what a device says of itself as an event."""
    named = {key: record[key] for key in _HEADER_KEYS if key in record}
    own = {key: each for key, each in record.items() if key not in named}
    if not payload.is_payload(own):
        return dict(record)
    whose = {"source": PERSON, "type": PERSONS_WORDS, **named, **options.event}
    return {**named, **payload.of_object(whose["source"], whose["type"], own)}


def _mapped(record: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the event that a record is by the columns that were named.

    A column that is not named goes into the event's fields under its own name, unless it
    has the name of one of an event's own parts.
    """

    def read(column: str) -> object:
        if column in record:
            return record[column]
        if "{" not in column:
            raise ValueError(f"there is no column {column!r}: {', '.join(record)}")
        return _COLUMN.sub(lambda found: str(read(found[1])), column)

    told: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, column in columns.items():
        into = fields if name.startswith(_FIELDS) else told
        into[name.removeprefix(_FIELDS)] = read(column)
    for name, given in record.items():
        # One that is only quoted in a text is still a reading, for conditions.
        if name not in columns.values():
            into = told if name in _PARTS and name not in told else fields
            into.setdefault(name, given)
    if "text" in told:
        told["text"] = str(told["text"])
    return {**told, "fields": {**fields, **told.get("fields", {})}}


def _zoned(name: str, text: str, zone: str | None) -> str:
    """Return a time with its zone.

    Raises:
        ValueError: it is no time, or names no zone, and none was given.
    """
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"{name} {text[:40]!r} is no time: write it as 2026-11-26T07:00:00+01:00"
        ) from None
    if at.tzinfo is not None:
        return text
    if zone is None:
        raise _NoZoneError(f"{name} {text[:40]!r} names no time zone")
    found = timezones.zone(zone)
    # By way of UTC: an hour that clocks leap over is the one after the leap.
    return at.replace(tzinfo=found).astimezone(UTC).astimezone(found).isoformat()


class _NoZoneError(ValueError):
    """A time says neither where its clock stands nor how far it is from UTC."""


_ZONE_STEP = "name the zone of such times: --zone Europe/Berlin"


def _sending(
    fields: dict[str, Any], ids: dict[tuple[str, str], str], how: Reading
) -> Sending:
    headers: dict[str, str] = fields.pop("headers", {})
    named = {key: fields.pop(key, None) for key in _HEADER_KEYS}
    source, old = named["source"] or PERSON, named["id"]
    event_id = how["new_id"]()
    if old is not None:
        # Under both, as an id is unique within its source only.
        ids[source, old] = event_id
    return Sending(
        agent=how["agent"] or named["agent"] or how["default_agent"],
        source=source,
        type=named["type"] or PERSONS_WORDS,
        event_id=event_id,
        body=_with_new_reference(fields, ids),
        headers=headers,
        at=_moment(fields.get("occurred_at") or headers.get("ce-time")),
    )


def _check(sending: Sending) -> None:
    """Refuse here, under its line's number, what the mind would quarantine.

    Raises:
        ValueError: it would.
    """
    sensor_subject(sending.agent, sending.source, sending.type)
    if _CONTROL.search(str(sending.body.get("person", ""))):
        raise ValueError("a person's name has no control characters")
    fault = admission.refused(
        sending.agent,
        sending.source,
        sending.type,
        sending.wire_headers,
        sending.wire_body,
    )
    if fault is not None:
        raise ValueError(fault)


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


def _moment(told: object) -> datetime | None:
    if isinstance(told, str):
        return datetime.fromisoformat(told)
    if not isinstance(told, int | float):
        return None
    # Seconds since 1970, or milliseconds, as the log reads them.
    seconds = told / (1000 if abs(told) > 2e10 else 1)
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
