"""The HTTP door under a flood of requests, and the ledger of what it took.

What the door took has to be in the log once and answered once, and what it refused must not
be there; whatever was cut off, sent again or killed. Requests go over raw connections, as a
client library would not send most of them.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from bench.fuzz.requests import MARK, Asked, Maker, events_of
from schemas.values.record import Record
from schemas.values.subjects import parse
from streams.log import ReadableLog, scan

AT_ONCE = 6
"""Clients at once."""
_PAUSE_S = 1.0
_PATIENCE_S = 60.0
_KNOWN_S = 300.0
"""How long it may take until one knows what became of a request, whatever is killed."""
_AGAIN = (408, 429, 503, 504)
"""Answers that are worth another try, as docs/http.md says."""


@dataclass(slots=True)
class Ledger:
    """What the door said."""

    asked: Counter[str] = field(default_factory=Counter)
    """Requests by kind."""
    codes: Counter[int] = field(default_factory=Counter)
    """Answers; 0: the connection was ended without one."""
    sent: Counter[str] = field(default_factory=Counter)
    """How often a key was sent."""
    accepted: dict[str, str] = field(default_factory=dict)
    """Ids of events that the door took, each with the key that it came by."""
    refused: set[str] = field(default_factory=set)
    """Ids of events that it would not take."""
    votes: set[str] = field(default_factory=set)
    """Ids of votes that counted."""
    cut: int = 0
    """Requests that were cut off by us."""
    faults: list[str] = field(default_factory=list)


class _Client:
    """A connection that is made again when it was closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, data: bytes) -> tuple[int, bytes]:
        """Send something, and return the answer's code and body."""
        writer = await self.send(data)
        assert self._reader is not None
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await self._answer(self._reader)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0, b""
        finally:
            if writer.is_closing():
                self.close()

    async def send(self, data: bytes) -> asyncio.StreamWriter:
        """Send something, and wait for nothing."""
        if self._writer is None or self._reader is None or self._reader.at_eof():
            self.close()
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._port
            )
        self._writer.write(data)
        with suppress(OSError):
            await self._writer.drain()
        return self._writer

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        headers = dict(each.partition(": ")[::2] for each in lines[1:] if each)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), body

    def close(self) -> None:
        """End the connection at once."""
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None


async def flood(
    maker: Maker,
    numbers: Sequence[int],
    port: int,
    done: Callable[[], object],
    waiting: Callable[[], object] = lambda: None,
) -> Ledger:
    """Send the requests of these numbers, and return what came of them.

    `done` is called after each; it may kill the door, if it starts another. `waiting` is
    called while one has no answer.
    """
    ledger = Ledger()

    async def some(part: int) -> None:
        client = _Client(port)
        for number in numbers[part::AT_ONCE]:
            await _one(maker.make(number), client, port, ledger, waiting)
            done()
        client.close()

    async with asyncio.TaskGroup() as group:
        for part in range(AT_ONCE):
            group.create_task(some(part))
    return ledger


async def _one(
    asked: Asked,
    client: _Client,
    port: int,
    ledger: Ledger,
    waiting: Callable[[], object],
) -> None:
    ledger.asked[asked.kind] += 1
    if asked.key is None:
        # What is no proper request, or may be, has a connection of its own.
        own = _Client(port)
        with suppress(OSError):
            code, body = await own.ask(asked.data)
            ledger.codes[code] += 1
            _unkeyed(asked, code, body, ledger)
        own.close()
        return
    if asked.trouble in ("half", "deaf"):
        await _cut(asked, port, ledger)
    code, body = await _until_known(asked, client, ledger, waiting)
    if asked.trouble == "twice":
        again = await _until_known(asked, client, ledger, waiting)
        if again[0] != code:
            ledger.faults.append(f"{asked.number}: {code}, and then {again[0]}")
    _note(asked, code, body, ledger)


async def _cut(asked: Asked, port: int, ledger: Ledger) -> None:
    """Send a request, or half of it, and be gone."""
    half = len(asked.data) // 2 if asked.trouble == "half" else len(asked.data)
    client = _Client(port)
    with suppress(OSError):
        await client.send(asked.data[:half])
        ledger.sent[asked.key or ""] += 1
        ledger.cut += 1
        # So that some are noticed before they are answered, and some after.
        await asyncio.sleep(0.005 * (asked.number % 4))
    client.close()


async def _until_known(
    asked: Asked, client: _Client, ledger: Ledger, waiting: Callable[[], object]
) -> tuple[int, bytes]:
    """Send a request until its answer says what became of it.

    Raises:
        RuntimeError: none does in time.
    """
    until, code = asyncio.get_running_loop().time() + _KNOWN_S, 0
    while asyncio.get_running_loop().time() < until:
        with suppress(OSError):
            ledger.sent[asked.key or ""] += 1
            code, body = await client.ask(asked.data)
            ledger.codes[code] += 1
            if code and code not in _AGAIN:
                return code, body
        waiting()
        await asyncio.sleep(_PAUSE_S)
    raise RuntimeError(f"{asked.number} has no answer in {_KNOWN_S:.0f} s: last {code}")


def _unkeyed(asked: Asked, code: int, body: bytes, ledger: Ledger) -> None:
    if asked.kind == "stranger" and code not in (0, 400, 401, 429, 431):
        ledger.faults.append(f"{asked.number}: a stranger is answered {code}")
    if code >= 500 and code != 503:
        ledger.faults.append(f"{asked.number}: {code} {body[:200]!r}")


def _note(asked: Asked, code: int, body: bytes, ledger: Ledger) -> None:
    """Enter what is known of a request's events."""
    if code >= 500:
        ledger.faults.append(f"{asked.number}: {code} {body[:200]!r}")
    elif asked.kind == "vote":
        if code == 200:
            ledger.votes.add(asked.own_id(0))
    elif code >= 300:
        ledger.refused.add(asked.own_id(0))
    else:
        for place, each in enumerate(events_of(body)):
            if each["accepted"]:
                ledger.accepted[each["event_id"]] = asked.key or ""
            else:
                ledger.refused.add(asked.own_id(place))


@dataclass(slots=True)
class Held:
    """What the log holds of some agents."""

    events: Counter[str] = field(default_factory=Counter)
    """How often each event is there, by id."""
    answers: defaultdict[str, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """What each event was answered by, by id; a repeated one as `duplicate`."""
    votes: set[str] = field(default_factory=set)
    """Ids of votes that counted."""
    places: set[tuple[str, str]] = field(default_factory=set)
    """Agents and sources of events."""


async def held(log: ReadableLog, agents: Sequence[str]) -> Held:
    """Read what the log holds of these agents, and of nobody in particular."""
    found, inputs = Held(), dict[int, tuple[str, str]]()
    async for record in scan(log, "ev.>"):
        place = parse(record.subject)
        if place.agent not in (*agents, "_"):
            continue
        id_ = record.headers.get("ce-id", "")
        if ".in." in record.subject:
            inputs[record.sequence] = (place.kind, id_)
            if place.kind == "sensor":
                found.events[id_] += 1
                found.places.add((place.agent, place.detail.partition(".")[0]))
        elif record.headers.get("ce-index") == "0":
            kind, cause = inputs.get(int(record.headers["ce-causeseq"]), ("", ""))
            if kind == "sensor":
                found.answers[cause].append(_answer(place.detail, record))
        if place.detail == "feedback_applied":
            found.votes.add(record.headers["ce-causeid"])
    return found


def _answer(token: str, record: Record) -> str:
    if token not in ("handled", "quarantined"):
        return "answered"
    said: Mapping[str, Any] = orjson.loads(record.body)
    return str(said["reason"]) if token == "quarantined" else _handled(said)


def _handled(said: Mapping[str, Any]) -> str:
    return "duplicate" if said["reason"] == "duplicate" else "answered"


def judge(maker: Maker, ledger: Ledger, found: Held) -> Sequence[str]:
    """Return what does not add up."""
    faults = list(ledger.faults)
    accepted, stored = set(ledger.accepted), set(found.events)
    faults += [f"lost: {each!r}" for each in sorted(accepted - stored)]
    faults += [f"never taken: {each!r}" for each in sorted(stored - accepted)]
    faults += [f"refused, and there: {each}" for each in ledger.refused & stored]
    faults += [f"smuggled: {each!r}" for each in stored if each.startswith(MARK)]
    for id_, times in found.events.items():
        said = found.answers[id_]
        once = [each for each in said if each != "duplicate"]
        if len(said) != times or len(once) != 1:
            faults.append(f"{id_!r} is there {times} times: {said}")
        elif once[0] not in ("answered", "rate", "clock"):
            faults.append(f"{id_!r} was taken, and is {once[0]}")
        if times > max(ledger.sent[ledger.accepted.get(id_, "")], 1):
            faults.append(f"{id_!r} is there more often than it was sent")
    # A vote that is sent again takes the place of itself, so it may be there as often.
    faults += [f"a vote is lost: {each}" for each in ledger.votes - found.votes]
    faults += [f"a vote is new: {each}" for each in found.votes - ledger.votes]
    rights = {(each.agent, source) for each in maker.tokens for source in each.sources}
    faults += [f"no right: {each}" for each in found.places - rights]
    return faults
