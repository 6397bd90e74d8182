"""CloudEvents 1.0 as plain events: structured, or binary with the attributes in headers.

Of `source`, a reference, the last segment counts, and of a `type` in reversed domain order
the last name that is no version (`org.example.oven.v2`); `data` (or `data_base64`) is the text,
the fields of an event, or a device's own.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import orjson

from echoic.doors.http.problems import ProblemError
from schemas.codec import payload

_HEADER = "ce-"
_VERSION = re.compile(r"\.v\d{1,4}\Z", re.ASCII | re.IGNORECASE)


def is_binary(headers: Mapping[str, str]) -> bool:
    """Tell whether a request is an event in binary mode: its headers say which version."""
    return f"{_HEADER}specversion" in headers


def attributes(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return an event's attributes from headers, where they are percent-encoded."""
    return {
        name.removeprefix(_HEADER): unquote(value)
        for name, value in headers.items()
        if name.startswith(_HEADER)
    }


def plain(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CloudEvent as the fields of a plain event.

    Raises:
        ProblemError: its `data_base64` is none, or no text.
    """
    read_as = {
        "event_id": event.get("id"),
        "agent": event.get("subject"),
        "source": _last(event.get("source"), "/"),
        "type": _last(_unversioned(event.get("type")), "."),
        "occurred_at": event.get("time"),
    }
    named = {name: value for name, value in read_as.items() if value is not None}
    told = _data(event)
    about = str(named.get("source", "")), str(named.get("type", ""))
    if not isinstance(told, dict):
        fields: dict[str, Any] = {"text": told}
        if isinstance(told, int | float):
            fields = payload.of_text(*about, orjson.dumps(told).decode())
    else:
        is_own = payload.is_payload(told)
        fields = payload.of_object(*about, told) if is_own else dict(told)
    return fields | named


def text_of(data: bytes) -> str:
    """Return bytes as text.

    Raises:
        ProblemError: they are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        detail = "the data is no text of UTF-8, and an event is words or JSON"
        raise ProblemError(400, "not_utf8", detail) from error


def _data(event: Mapping[str, Any]) -> object:
    """Return an event's data; of `data_base64` the JSON that it is, else its text."""
    told = event.get("data_base64")
    if told is None:
        return event.get("data")
    try:
        found = base64.b64decode(str(told), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProblemError(
            400, "invalid", "data_base64 is not encoded in base 64"
        ) from error
    text = text_of(found)
    try:
        data: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return data


def _last(told: object, separator: str) -> object:
    if not isinstance(told, str):
        return told
    return told.rstrip(separator).rpartition(separator)[2]


def _unversioned(told: object) -> object:
    return _VERSION.sub("", told) if isinstance(told, str) else told
