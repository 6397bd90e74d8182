"""The bucket of a sealed log's keys: values that can be overwritten where they are stored."""

import base64
from dataclasses import dataclass
from datetime import datetime

import msgspec

from streams.errors import LogUnavailable
from streams.jetstream.connection import ApiError, answer, attempts, insist, request
from streams.jetstream.hardened_client import BrokerClient
from streams.topology import KEYS

_SUBJECT = "$KV.KEYS."
NO_MESSAGE = 10037
"""The server's error code for a message that is not there."""
_WRONG_SEQUENCE = (10071, 10164)
_GONE = (NO_MESSAGE, 10043, 10057)


class Key(msgspec.Struct, frozen=True):
    """A person's key as it is stored."""

    id: str
    """Random: a person who comes back after being forgotten has another."""
    key: str
    """Base64."""


class Mark(msgspec.Struct, frozen=True):
    """That a key is to be destroyed, kept beside the keys for good."""

    at: datetime
    done: bool = False
    """Whether all that was made with it is gone as well."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A value of the bucket, and where it stands."""

    subject: str
    sequence: int
    value: bytes


class Bucket:
    """The bucket as a stream, whose values can be overwritten on the disk."""

    def __init__(self, client: BrokerClient) -> None:
        """Use a connection, which the caller closes."""
        self._client = client

    async def get(self, name: str) -> _Stored | None:
        """Return a value from the leader, None if there is none."""
        which = {"last_by_subj": _SUBJECT + name}
        try:
            found = await insist(
                self._client, f"$JS.API.STREAM.MSG.GET.{KEYS.name}", which
            )
        except ApiError as error:
            if error.code == NO_MESSAGE:
                return None
            raise
        message = found["message"]
        return _Stored(
            message["subject"].removeprefix(_SUBJECT),
            message["seq"],
            base64.b64decode(message.get("data", "")),
        )

    async def names(self, pattern: str) -> list[str]:
        """Return the names that match a pattern, sorted."""
        info = await insist(
            self._client,
            f"$JS.API.STREAM.INFO.{KEYS.name}",
            {"subjects_filter": _SUBJECT + pattern},
        )
        subjects = info["state"].get("subjects") or {}
        return sorted(each.removeprefix(_SUBJECT) for each in subjects)

    async def put(self, name: str, value: bytes, *, only_if_new: bool = False) -> bool:
        """Store a value; return whether it was, with `only_if_new` False if there was one."""
        fence = {"Nats-Expected-Last-Subject-Sequence": "0"} if only_if_new else None
        async for last in attempts():
            try:
                subject = _SUBJECT + name
                answer(subject, await request(self._client, subject, value, fence))
                return True
            except ApiError as error:
                # After a lost answer it may be our own; whoever asks reads it back.
                if only_if_new and error.code in _WRONG_SEQUENCE:
                    return False
                raise
            except LogUnavailable:
                if last:
                    raise
        raise AssertionError("unreachable")

    async def erase(self, name: str) -> None:
        """Remove a value and overwrite it where it is stored."""
        while (found := await self.get(name)) is not None:
            await erase(self._client, KEYS.name, found.sequence)


async def erase(client: BrokerClient, stream: str, sequence: int) -> None:
    """Remove a message of a stream and overwrite its bytes on the disk.

    A purge, an expiry or a newer value only drops it from the index, and its bytes stay in
    the file until that is compacted.
    """
    try:
        await insist(
            client,
            f"$JS.API.STREAM.MSG.DELETE.{stream}",
            {"seq": sequence, "no_erase": False},
        )
    except ApiError as error:
        # Erased before: the answer to an earlier request was lost.
        if error.code not in _GONE:
            raise
