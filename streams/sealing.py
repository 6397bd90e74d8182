"""Sealed records: personal fields under a person's key, and the same record opened.

The key's name stands in a header, so that whoever has the key can open a message without
knowing its type. A field that cannot be opened any more reads as forgotten.
"""

import base64
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from schemas.codec import personal
from schemas.codec.payload import is_payload
from schemas.messages.sensing import Sensed
from schemas.ports.sealing import Caused, Seal
from schemas.values.base import FORGOTTEN
from schemas.values.lazily import Lazily
from schemas.values.record import Record
from schemas.values.subjects import SubjectError, forgettings_of, parse
from streams.log import After, ReadableLog, Records, scan

if TYPE_CHECKING:
    from cryptography import exceptions as faults
    from cryptography.hazmat.primitives.ciphers import aead as ciphers
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
else:
    # Only a log with keys takes them.
    faults = Lazily("cryptography.exceptions", keeps=True)
    ciphers = Lazily("cryptography.hazmat.primitives.ciphers.aead", keeps=True)

HEADER = "ce-sealed"
"""The header that names the key of a message with sealed fields."""

KEY_BYTES = 64
"""Of a key of AES-256-SIV (RFC 5297): half is for the tag, half for the cipher."""

_TEXT, _VALUE = "sealed:t:", "sealed:v:"
"""How sealed texts, and sealed values of any other kind, begin."""

_ALL = "/"
"""The path of a body that is sealed as a whole, since it is no JSON object."""


@dataclass(frozen=True, slots=True)
class Cipher:
    """A key with its name.

    AES-SIV needs no nonce: the same text at the same place gives the same bytes, so that a
    replay repeats them. A place is a message's id and the path of a field.
    """

    name: str
    aead: "AESSIV"

    @classmethod
    def of(cls, name: str, key: bytes) -> "Cipher":
        """Return the cipher of a key of `KEY_BYTES`."""
        return cls(name, ciphers.AESSIV(key))

    def seal(self, id_: str, path: str, value: Any, is_whole: bool = False) -> str:
        """Return a value sealed, as text; one `is_whole` is left out when forgotten."""
        begin, data = _beginning(value, is_whole), b""
        if begin == _TEXT:
            data = value.encode("utf-8", "surrogatepass")
        else:
            data = orjson.dumps(value)
        # AES-SIV of the library takes no empty text, and no empty associated data.
        sealed = self.aead.encrypt(data + b".", _place(id_, path, begin))
        return begin + base64.urlsafe_b64encode(sealed).decode()

    def seal_bytes(self, data: bytes) -> bytes:
        """Return bytes sealed, whatever they are."""
        return self.aead.encrypt(data, [self.name.encode()])

    def open_bytes(self, sealed: bytes) -> bytes:
        """Return the bytes.

        Raises:
            ValueError: this key did not seal them, or they are damaged.
        """
        try:
            return self.aead.decrypt(sealed, [self.name.encode()])
        except faults.InvalidTag as error:
            raise ValueError("not sealed under this key, or damaged") from error

    def open(self, id_: str, path: str, sealed: str) -> Any:
        """Return the value; the text itself if this key did not seal it there."""
        begin = sealed[: len(_TEXT)]
        try:
            data = base64.urlsafe_b64decode(sealed[len(begin) :])
            data = self.aead.decrypt(data, _place(id_, path, begin))[:-1]
        except (ValueError, faults.InvalidTag):
            # Whoever writes such a text into a field of their own gets it back.
            return sealed
        if begin == _TEXT:
            return data.decode("utf-8", "surrogatepass")
        return orjson.loads(data)


def sealed(record: Record, cipher: Cipher) -> Record:
    """Return a record with its personal fields sealed, and the key's name in its header.

    What cannot be read as fields is sealed as a whole.
    """
    id_ = record.headers.get("ce-id", "")
    headers = {**record.headers, HEADER: cipher.name}
    fields = fields_of(record)
    if fields is None:
        text = record.body.decode("latin-1")
        body = orjson.dumps({_ALL: cipher.seal(id_, _ALL, text)})
    else:
        kind, token = type_of(record.subject, fields)
        personal.replaced(
            kind,
            token,
            fields,
            lambda path, value, is_whole: cipher.seal(id_, path, value, is_whole),
        )
        body = orjson.dumps(fields)
    return replace(record, headers=headers, sealed=body)


def opened(record: Record, cipher: Cipher | None) -> Record:
    """Return a stored record with its fields opened, forgotten without a cipher."""
    fields: dict[str, Any] = orjson.loads(record.body)
    id_ = record.headers.get("ce-id", "")
    if _ALL in fields and len(fields) == 1:
        text = _opened(fields[_ALL], _ALL, id_, cipher)
        body = orjson.dumps({"text": text})
        if cipher is not None:
            body = str(text).encode("latin-1")
    else:
        body = orjson.dumps(_opened(fields, "", id_, cipher))
    return replace(record, body=body, sealed=record.body)


def is_lost(record: Record) -> bool:
    """Tell whether an opened record holds something whose key was not there."""
    if record.sealed is None or HEADER not in record.headers:
        return False
    unopened = opened(replace(record, body=record.sealed, sealed=None), None)
    # What had nothing sealed in it is whole without a key.
    whole = orjson.dumps(orjson.loads(record.sealed))
    return record.body == unopened.body != whole


def like(recorded: Sequence[Record]) -> Seal | None:
    """Return what seals outputs as recorded ones are; None if these are in clear.

    It takes no key: what opens to the same fields was sealed as the same bytes.
    """
    if not any(HEADER in each.headers for each in recorded):
        return None

    def seal(cause: Caused, made: Sequence[Record]) -> Sequence[Record]:
        return [
            new if old is None else _like(old, new)
            for old, new in zip([*recorded, *[None] * len(made)], made, strict=False)
        ]

    return seal


def _like(old: Record, new: Record) -> Record:
    if HEADER not in old.headers:
        return new
    headers = {**new.headers, HEADER: old.headers[HEADER]}
    # As it is written when it is opened.
    body = orjson.dumps(orjson.loads(new.body))
    is_same = old.sealed is not None and body == old.body
    return replace(
        new, headers=headers, body=body, sealed=old.sealed if is_same else None
    )


async def forgotten_until(log: ReadableLog, partition: int) -> dict[str, int]:
    """Return the input at which each agent of a sealed log last forgot somebody."""
    return {
        parse(record.subject).agent: record.sequence
        async for record in scan(log, forgettings_of(partition))
        if HEADER in record.headers
    }


def redacted(record: Record) -> Record:
    """Return a record without any personal field, whoever's, as if all were forgotten."""
    fields = fields_of(record)
    headers = {name: record.headers[name] for name in record.headers if name != HEADER}
    if fields is None:
        body = orjson.dumps({"text": FORGOTTEN})
    else:
        kind, token = type_of(record.subject, fields)
        personal.replaced(
            kind, token, fields, lambda _, value, is_whole: _beginning(value, is_whole)
        )
        body = orjson.dumps(_opened(fields, "", "", None))
    return replace(record, headers=headers, body=body, sealed=None)


class RedactedLog:
    """A `ReadableLog` of redacted records."""

    def __init__(self, log: ReadableLog) -> None:
        """Read from `log`."""
        self._log = log
        self.epoch, self.blob = log.epoch, log.blob
        self.last_sequence, self.ends = log.last_sequence, log.ends

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return up to `limit` records, redacted."""
        return tuple(map(redacted, await self._log.page(subjects, after, limit)))

    async def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there and then what arrives, redacted."""
        async with aclosing(self._log.follow(subjects, after, limit)) as following:
            async for records in following:
                yield tuple(map(redacted, records))

    async def record(self, sequence: int) -> Record | None:
        """Return one record, redacted."""
        found = await self._log.record(sequence)
        return None if found is None else redacted(found)


def fields_of(record: Record) -> dict[str, Any] | None:
    """Return the fields of a body; None if they are none that a message has.

    A device's own object has no marks of what is personal, so all of it may be.
    """
    try:
        fields = orjson.loads(record.body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(fields, dict) or _ALL in fields:
        return None
    is_event = type_of(record.subject, fields) == (Sensed.kind, Sensed.token)
    return None if is_event and is_payload(fields) else fields


def type_of(subject: str, fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind and token of a message, also of one that is published like an event."""
    try:
        place = parse(subject)
    except SubjectError:
        return "", ""
    if place.kind != "sensor":
        return place.kind, place.detail
    match place.detail.partition(".")[2]:
        case "feedback":
            return "feedback", "feedback_given"
        case "control":
            return "control", str(fields.get("control"))
        case _:
            return "sensor", "sensed"


_DROPPED = object()


def _opened(value: Any, path: str, id_: str, cipher: Cipher | None) -> Any:
    """Return a JSON value with what is sealed in it opened, or forgotten."""
    if isinstance(value, str):
        if not value.startswith((_TEXT, _VALUE)):
            return value
        if cipher is not None:
            return cipher.open(id_, path, value)
        return FORGOTTEN if value.startswith(_TEXT) else _DROPPED
    if isinstance(value, dict):
        inner = (
            (name, _opened(each, f"{path}/{name}", id_, cipher))
            for name, each in value.items()
        )
        return {name: each for name, each in inner if each is not _DROPPED}
    if isinstance(value, list):
        items = (
            _opened(each, f"{path}/{number}", id_, cipher)
            for number, each in enumerate(value)
        )
        return [each for each in items if each is not _DROPPED]
    return value


def _beginning(value: Any, is_whole: bool) -> str:
    return _TEXT if isinstance(value, str) and not is_whole else _VALUE


def _place(id_: str, path: str, begin: str) -> list[bytes]:
    return [f"{begin}{id_}".encode("utf-8", "surrogatepass"), f"/{path}".encode()]
