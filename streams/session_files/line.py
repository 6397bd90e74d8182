"""The codec of a session file's line: one message, without what can be derived.

Almost every header of an output can be: its id from epoch, cause and index, its cause's id
from the input before it, its type from its subject. The line holds the differences from the
expected headers, so a wrong expectation costs bytes and never content.
"""

import base64
from typing import Any
from uuid import UUID

import orjson

from schemas.values.ids import filled_event_id, output_id
from schemas.values.record import Record

_INPUTS_KNOWN = 10_000
"""How many of the last inputs' ids are remembered to derive a cause's id. It is part of the
format: writer and reader must forget alike."""

_MARK = ("ce-causeseq", "ce-index", "ce-count")


class Lines:
    """Writes or reads the lines of one file, in order; each depends on those before it."""

    def __init__(self, epoch: UUID, partition: int) -> None:
        """Start with what the file's header holds."""
        self._epoch = epoch
        self._prefix = f"ev.{partition}."
        self._time_ns = 0
        self._said_at = ""
        self._input_ids: dict[int, str] = {}

    def write(self, record: Record) -> dict[str, Any]:
        """Return the line of a record: n sequence, t time, s subject, m mark, h, x headers."""
        line: dict[str, Any] = {
            "n": record.sequence,
            "t": record.time_ns - self._time_ns,
        }
        line["s"] = _without(record.subject, self._prefix)
        mark = _mark(record)
        if mark is not None:
            line["m"] = mark
        expected = self._expected(record.subject, mark)
        if more := {k: v for k, v in record.headers.items() if expected.get(k) != v}:
            line["h"] = more
        if fewer := sorted(expected.keys() - record.headers.keys()):
            line["x"] = fewer
        line |= _packed(record.stored)
        self._remember(record)
        return line

    def read(self, line: dict[str, Any]) -> Record:
        """Return the record of a line.

        Raises:
            KeyError, TypeError, ValueError: the line is none that `write` returns.
        """
        subject = _with(line["s"], self._prefix)
        headers = self._expected(subject, line.get("m"))
        headers.update(line.get("h", ()))
        for name in line.get("x", ()):
            del headers[name]
        record = Record(
            subject=subject,
            headers=headers,
            body=_unpacked(line),
            sequence=line["n"],
            time_ns=line["t"] + self._time_ns,
        )
        self._remember(record)
        return record

    def subject(self, text: str) -> str:
        """Return the subject that a line gives as `text`."""
        return _with(text, self._prefix)

    def skip(self, line: dict[str, Any]) -> None:
        """Advance past a line as `read` would, without decoding its record."""
        headers, self._time_ns = line.get("h", {}), self._time_ns + line["t"]
        if "m" in line or "ce-causeseq" in headers:
            self._said_at = headers.get("ce-time", self._said_at)
        else:
            self._input_is(line["n"], headers.get("ce-id"))

    def _expected(self, subject: str, mark: list[int] | None) -> dict[str, str]:
        """Return the headers that a message has unless its line says otherwise."""
        parts = subject.split(".", 5)
        if len(parts) < 6:
            return {}
        # A sensor's headers are its own; only the version is common to all.
        if mark is None and parts[4] == "sensor":
            return {"ce-specversion": "1.0"}
        expected = {
            "ce-specversion": "1.0",
            "ce-type": f"echoic.{parts[5]}",
            "ce-subject": parts[3],
            "ce-schemaversion": "1",
        }
        if mark is None:
            return expected
        cause, index, count = mark
        return {
            **expected,
            "ce-causeseq": str(cause),
            "ce-index": str(index),
            "ce-count": str(count),
            "ce-id": output_id(self._epoch, cause, index),
            "ce-causeid": self._input_ids.get(cause, ""),
            "ce-source": "/echoic/mind",
            "ce-time": self._said_at,
        }

    def _remember(self, record: Record) -> None:
        self._time_ns = record.time_ns
        if "ce-causeseq" in record.headers:
            self._said_at = record.headers.get("ce-time", self._said_at)
        else:
            self._input_is(record.sequence, record.headers.get("ce-id"))

    def _input_is(self, sequence: int, id_: str | None) -> None:
        # The mind derives the same id for an event that came without one.
        if id_ is None:
            id_ = filled_event_id(self._time_ns, sequence)
        self._input_ids[sequence] = id_
        if len(self._input_ids) > _INPUTS_KNOWN:
            del self._input_ids[next(iter(self._input_ids))]


def write_blob(digest: str, data: bytes) -> dict[str, str]:
    """Return the line of a blob."""
    return {"blob": digest, "data": base64.b64encode(data).decode()}


def read_blob(line: dict[str, Any]) -> tuple[str, bytes]:
    """Return the digest and the bytes of a blob's line."""
    return line["blob"], base64.b64decode(line["data"], validate=True)


def _mark(record: Record) -> list[int] | None:
    """Return cause, index and count of the group mark; None unless they are plain numbers.

    "007" would come back as "7", and the headers must be restored byte for byte.
    """
    texts = [record.headers.get(name, "") for name in _MARK]
    if not all(text.isascii() and text.isdigit() for text in texts):
        return None
    numbers = [int(text) for text in texts]
    return numbers if list(map(str, numbers)) == texts else None


def _packed(body: bytes) -> dict[str, Any]:
    """Return a body as JSON if that restores the same bytes, else as text, else base64.

    Chains and digests cover the raw bytes, so equal JSON is not enough.
    """
    try:
        value = orjson.loads(body)
        if orjson.dumps(value) == body:
            return {"j": value}
    except ValueError:
        pass
    try:
        return {"u": body.decode()}
    except UnicodeDecodeError:
        return {"b": base64.b64encode(body).decode()}


def _unpacked(line: dict[str, Any]) -> bytes:
    if "j" in line:
        return orjson.dumps(line["j"])
    if "u" in line:
        return str(line["u"]).encode()
    return base64.b64decode(line["b"], validate=True)


def _without(subject: str, prefix: str) -> str:
    """Return a subject without the prefix, or with a leading dot if it has another one."""
    return subject.removeprefix(prefix) if subject.startswith(prefix) else "." + subject


def _with(text: str, prefix: str) -> str:
    return text[1:] if text.startswith(".") else prefix + text
