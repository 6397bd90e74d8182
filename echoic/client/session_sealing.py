"""Session files of sealed logs: their state is sealed as their messages are, and both open
beside the log alone. Redacted ones hold no personal field, and no key opens them.
"""

from dataclasses import replace

import orjson
from msgspec.structs import replace as with_fields

from echoic.client.connection import LiveLog, addresses, is_running
from echoic.config.load import Settings
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.jetstream.connection import reading
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.keys import Keyring
from streams.log import ReadableLog
from streams.sealing import HEADER, RedactedLog
from streams.session_files.file import SessionFile

_PLACE = "state"


def source(log: ReadableLog, *, redact: bool) -> ReadableLog:
    """Return the log that a session is exported from."""
    return RedactedLog(log) if redact else log


async def finished(file: SessionFile, log: LiveLog, *, redact: bool) -> SessionFile:
    """Return a session as its file holds it: redacted, sealed, or in clear."""
    if redact:
        return replace(file, header=with_fields(file.header, redacted=True))
    if log.keyring is None:
        return file
    cipher = await log.keyring.of_everybody(file.header.agent)
    state = orjson.dumps(file.header.checkpoint).decode()
    header = with_fields(
        file.header, checkpoint=cipher.seal(_PLACE, _PLACE, state), sealed=cipher.name
    )
    return replace(file, header=header)


async def opened(settings: Settings, file: SessionFile) -> SessionFile:
    """Return a session with what is sealed in it opened by the keys of its log.

    Without an instance of that log, or after somebody in it was forgotten, the state stays
    sealed.
    """
    if file.header.sealed is None or not is_running(settings):
        return file
    credentials, _ = addresses(settings)
    async with reading(credentials, "echoic replay") as client:
        return await opened_by(client, file)


async def opened_by(client: BrokerClient, file: SessionFile) -> SessionFile:
    """Return a session opened by the keys of a connection's log, as far as it can be."""
    keys, header = Keyring(client), file.header
    if header.sealed is None:
        return file
    records = await keys.opened(file.records)
    gone = [await _is_gone(keys, each) for each in file.records]
    cipher = await keys.cipher(header.agent, header.sealed)
    if cipher is not None:
        state = cipher.open(_PLACE, _PLACE, str(header.checkpoint))
        header = with_fields(header, checkpoint=orjson.loads(state), sealed=None)
    return replace(file, header=header, records=records, is_partly=any(gone))


async def _is_gone(keys: Keyring, record: Record) -> bool:
    name, agent = record.headers.get(HEADER), parse(record.subject).agent
    return name is not None and await keys.cipher(agent, name) is None
