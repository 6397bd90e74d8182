"""The keys of a sealed log: one for each person of an agent, in a bucket of the broker.

A key is never changed and never copied: not into backups, session files or checkpoints.
Destroying it overwrites it where the broker stores it, and what it sealed is forgotten.
What concerns several people is sealed under a key derived of all of theirs.
"""

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from schemas.codec import personal
from schemas.messages.controls import PersonForgotten
from schemas.messages.notes import ControlInferred
from schemas.messages.sensing import PERSON, SOMEBODY
from schemas.ports.sealing import Caused
from schemas.values.persons import token_of
from schemas.values.record import Record, Wire
from schemas.values.subjects import is_token, parse, partition_of
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.key_bucket import Bucket, Key, Mark
from streams.sealing import (
    HEADER,
    KEY_BYTES,
    Cipher,
    fields_of,
    opened,
    sealed,
    type_of,
)

_ALL_OF = "*."
"""How the name of a derived key begins; no person's token is a star."""
STATES = "="
"""What stands for an agent where a key is for a partition's checkpoints; no agent's token."""
_ASKS_KNOWN = 10_000
"""How many of the last asks are remembered with the key that they are under."""


class Keyring:
    """The keys that this process has needed so far."""

    def __init__(self, client: BrokerClient) -> None:
        """Use a connection, which the caller closes."""
        self.bucket = Bucket(client)
        self._ciphers: dict[tuple[str, str], Cipher | None] = {}
        """By agent and name; None: destroyed."""
        self._known: dict[str, dict[str, tuple[str, bytes]]] = {}
        """Names and keys by agent and person, to open with."""
        self._members: dict[str, dict[str, tuple[str, bytes]]] = {}
        """The same to seal outputs with: a key that was destroyed stays among them for as
        long as a state may hold what it sealed."""
        self._derived: dict[tuple[str, ...], Cipher] = {}
        self._stored: set[tuple[str, str]] = set()
        """The derived keys whose members the bucket holds, by agent and name."""
        self._asks: dict[str, str] = {}
        """By the id of an ask, the key that it is under, as its result will be."""
        self._lock = asyncio.Lock()

    async def sealed_input(self, record: Record) -> Record:
        """Seal an input under the key of whoever speaks; make the key if there is none.

        A result is under the key of its ask: what a model says may be about anybody of whom
        it was told.
        """
        agent, kind = (place := parse(record.subject)).agent, place.kind
        if SOMEBODY not in self._known.get(agent, {}):
            await self._of_person(agent, SOMEBODY)
        fields = fields_of(record) or {}
        name = self._asks.get(str(fields.get("ask_id"))) if kind == "result" else None
        if name is not None:
            cipher = await self.cipher(agent, name)
            # Forgotten while it was performed: what came of it is not even kept.
            if cipher is None:
                return sealed(_without_words(record), self._circle(agent))
            return sealed(record, cipher)
        if kind in ("result", "clock"):
            return sealed(record, self._circle(agent))
        # That somebody is forgotten must not make a new key for them.
        is_end = kind == "control" and place.detail == PersonForgotten.token
        person = SOMEBODY if is_end else speaker(fields)
        return sealed(record, await self._of_person(agent, person))

    def sealed_outputs(
        self, cause: Caused, outputs: Sequence[Record]
    ) -> Sequence[Record]:
        """Seal outputs under the keys of all whom the agent knows.

        What a person asked for in words of their own is under that person's key alone.
        """
        agent = parse(outputs[0].subject).agent
        circle = self._circle(agent)
        its = self._ciphers.get((agent, cause.record.headers.get(HEADER, ""))) or circle
        return [sealed(each, its if _is_own(each) else circle) for each in outputs]

    async def opened(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """Return records with what is sealed in them opened, or forgotten."""
        if not any(HEADER in each.headers for each in records):
            return tuple(records)
        return tuple([await self._opened(each) for each in records])

    async def cipher(self, agent: str, name: str) -> Cipher | None:
        """Return the key of a name, None if it was destroyed."""
        if agent not in self._known:
            await self._load(agent)
        if (agent, name) not in self._ciphers:
            if name.startswith(_ALL_OF):
                self._ciphers[agent, name] = await self._derive(agent, name)
            else:
                await self._read(agent, name.rpartition(".")[0])
                self._ciphers.setdefault((agent, name), None)
        return self._ciphers[agent, name]

    async def keep(self, messages: Sequence[Wire]) -> None:
        """Store the members of the derived keys of messages before these are written."""
        for wire in messages:
            await self._keep(parse(wire.subject).agent, wire.headers.get(HEADER, ""))

    async def _keep(self, agent: str, name: str) -> None:
        if not name.startswith(_ALL_OF) or (agent, name) in self._stored:
            return
        members = _names(self._members[agent])
        if _name_of(members) == name:
            value = json.dumps(members).encode()
            await self.bucket.put(_circle(agent, name), value)
            self._stored.add((agent, name))

    async def of_state(self, partition: int) -> Cipher:
        """Return the key of a partition's checkpoints, made if there is none."""
        return await self._of_person(STATES, str(partition))

    async def of_everybody(self, agent: str) -> Cipher:
        """Return the key derived of those of everybody whom an agent knows now."""
        await self._of_person(agent, SOMEBODY)
        cipher = self._circle(agent)
        await self._keep(agent, cipher.name)
        return cipher

    async def name_of(self, agent: str, person: str) -> str | None:
        """Return the name of a person's key, None if there is none."""
        stored = await self.bucket.get(f"key.{agent}.{person}")
        if stored is None:
            return None
        return f"{person}.{msgspec.json.decode(stored.value, type=Key).id}"

    async def mark(self, agent: str, person: str, name: str, mark: Mark) -> None:
        """Note that a key is to be destroyed, or is."""
        id_ = name.rpartition(".")[2]
        value = msgspec.json.encode(mark)
        await self.bucket.put(f"forgotten.{agent}.{person}.{id_}", value)

    async def marks(
        self, agent: str = "*", person: str = "*"
    ) -> list[tuple[str, str, Mark]]:
        """Return what was forgotten, or is being: agent, name of the key, and mark."""
        found = []
        for name in await self.bucket.names(f"forgotten.{agent}.{person}.*"):
            stored = await self.bucket.get(name)
            if stored is not None:
                _, whose, who, id_ = name.split(".")
                mark = msgspec.json.decode(stored.value, type=Mark)
                found.append((whose, f"{who}.{id_}", mark))
        return found

    async def unfinished(self) -> list[tuple[str, str]]:
        """Return agent and person of each forgetting that was begun and not completed."""
        found = await self.marks()
        return sorted(
            {(agent, _person(name)) for agent, name, mark in found if not mark.done}
        )

    async def forgotten(self, agent: str) -> None:
        """Go on without the keys of an agent that were destroyed, in sealing as well."""
        self._drop(agent)
        await self._load(agent)
        self._members[agent] = dict(self._known[agent])

    def let_go(self, partition: int) -> None:
        """Keep no key of a partition's agents: others decide for them, and forget people."""
        known = {*self._known, *self._members} - {STATES}
        for each in sorted(known):
            if partition_of(each) == partition:
                self._drop(each)
                self._members.pop(each, None)

    def _drop(self, agent: str) -> None:
        """Have an agent's keys read again before anything more is opened."""
        for each in (agent, STATES):
            self._known.pop(each, None)
        for key in [each for each in self._ciphers if each[0] in (agent, STATES)]:
            del self._ciphers[key]

    async def _opened(self, record: Record) -> Record:
        name = record.headers.get(HEADER)
        if name is None:
            return record
        place = parse(record.subject)
        if place.kind == "control" and place.detail == PersonForgotten.token:
            self._drop(place.agent)
        if place.kind == "ask":
            self._asks[record.headers["ce-id"]] = name
            if len(self._asks) > _ASKS_KNOWN:
                del self._asks[next(iter(self._asks))]
        return opened(record, await self.cipher(place.agent, name))

    def _circle(self, agent: str) -> Cipher:
        """Return the key derived of those of everybody whom the agent knows."""
        members = self._members[agent]
        names = _names(members)
        if names not in self._derived:
            keys = [members[_person(each)][1] for each in names]
            self._derived[names] = Cipher.of(_name_of(names), _joined(keys))
        return self._derived[names]

    async def _derive(self, agent: str, name: str) -> Cipher | None:
        """Return the derived key of a name, None if one of its members was destroyed."""
        stored = await self.bucket.get(_circle(agent, name))
        names = json.loads(stored.value) if stored is not None else []
        keys = []
        for each in names:
            if self._known.get(agent, {}).get(_person(each), ("",))[0] != each:
                await self._read(agent, _person(each))
            known = self._known[agent].get(_person(each))
            if known is None or known[0] != each:
                return None
            keys.append(known[1])
        return Cipher.of(name, _joined(keys)) if keys else None

    async def _load(self, agent: str) -> None:
        self._known.setdefault(agent, {})
        for name in await self.bucket.names(f"key.{agent}.*"):
            await self._read(agent, name.rpartition(".")[2])

    async def _of_person(self, agent: str, person: str) -> Cipher:
        """Return a person's key, made if there is none."""
        # One at a time: of two that are made at once the bucket takes one.
        async with self._lock:
            if agent not in self._known:
                await self._load(agent)
            known = self._known[agent].get(person)
            cipher = self._ciphers.get((agent, known[0])) if known else None
            while cipher is None:
                made = Key(
                    secrets.token_hex(6),
                    base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode(),
                )
                value = msgspec.json.encode(made)
                await self.bucket.put(f"key.{agent}.{person}", value, only_if_new=True)
                # Read back: another process may have made it.
                cipher = await self._read(agent, person)
            return cipher

    async def _read(self, agent: str, person: str) -> Cipher | None:
        stored = await self.bucket.get(f"key.{agent}.{person}")
        if stored is None:
            return None
        read = msgspec.json.decode(stored.value, type=Key)
        name, key = f"{person}.{read.id}", base64.b64decode(read.key)
        self._known.setdefault(agent, {})[person] = name, key
        self._members.setdefault(agent, {})[person] = name, key
        cipher = self._ciphers[agent, name] = Cipher.of(name, key)
        return cipher


def _without_words(record: Record) -> Record:
    """Return a result without any personal text, as it is kept once that is forgotten."""
    fields = fields_of(record) or {}
    kind, token = type_of(record.subject, fields)
    personal.replaced(kind, token, fields, lambda path, value, is_whole: "")
    return replace(record, body=orjson.dumps(fields))


def speaker(fields: Mapping[str, Any]) -> str:
    """Return whose words the fields of an input hold."""
    for name in ("person", "by", "actor"):
        value = fields.get(name)
        if not isinstance(value, str) or value == PERSON:
            continue
        try:
            return token_of(value) if name != "by" or is_token(value) else SOMEBODY
        except ValueError:
            continue
    return SOMEBODY


def _is_own(output: Record) -> bool:
    """Tell whether an output repeats what one person asked for, and nothing else."""
    if not output.subject.endswith(f".{ControlInferred.token}"):
        return False
    return (fields_of(output) or {}).get("by") == "pattern"


def _names(members: Mapping[str, tuple[str, bytes]]) -> tuple[str, ...]:
    return tuple(sorted(name for name, _ in members.values()))


def _person(name: str) -> str:
    """Return whose key a name is of."""
    return name.rpartition(".")[0]


def _name_of(members: Sequence[str]) -> str:
    text = ",".join(members).encode()
    return _ALL_OF + hashlib.blake2b(text, digest_size=8).hexdigest()


def _circle(agent: str, name: str) -> str:
    return f"circle.{agent}.{name.removeprefix(_ALL_OF)}"


def _joined(keys: Sequence[bytes]) -> bytes:
    """Return the key that takes all of these keys to make."""
    hashed = hashlib.blake2b(digest_size=KEY_BYTES, person=b"echoic circle")
    for key in keys:
        hashed.update(key)
    return hashed.digest()
