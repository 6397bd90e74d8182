"""Whether a village's log, states and tables are whole, whatever was killed before.

What a program of ours can tell is asked of it by its commands; the rest is counted from the
log: what was decided or heard twice, what waits for ever, and what stands still.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from bench.enduring.findings import (
    Findings,
    as_json,
    ask_the_program,
    connected,
    folded_states,
    settle,
)
from bench.village.parts import Village
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.controls import SessionStarted
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.state.agent import AgentState
from schemas.values.record import Record
from schemas.values.subjects import AGENT_SOURCE, sensor_of
from streams.log import scan

_STILL = timedelta(minutes=30)
"""How long in the village a plan, or a conversation, may stand as it is."""
_ANSWERED = (ModelAsked, DeliveryAsked, RecallAsked)


async def last_told(living: Village) -> datetime | None:
    """Return the latest time of the world that the log holds; None if it has told nothing."""
    async with connected(living) as connection:
        log = connection.log
        last = await log.last_sequence("ev.*.in.*.sensor.village.*")
        clock = await log.last_sequence("ev.*.in.*.sensor.world.*")
        records = [await log.record(each) for each in (last, clock) if each]
    times = [record.headers["ce-time"] for record in records if record is not None]
    return max(map(datetime.fromisoformat, times), default=None)


async def events_told(living: Village) -> int:
    """Return the sequence of the last event that the world told."""
    async with connected(living) as connection:
        return await connection.log.last_sequence("ev.*.in.*.sensor.>")


async def unharmed(living: Village) -> Findings:
    """Look at everything, once nothing is under way any more."""
    found = Findings()
    async with connected(living) as connection:
        await settle(connection, found)
        log = connection.log
        records = [each async for each in scan(log, "ev.>")]
        members = _members(records, found)
        _counted(records, found)
        _heard_once(living, found)
        states = await folded_states(connection, members.keys(), found)
        _going_on(records, states, found)
    ask_the_program(living, found)
    _world(living, found)
    return found


def _of(records: Sequence[Record], *tokens: str) -> Iterator[tuple[Record, str, Any]]:
    """Yield the messages of some tokens, each with its agent and its body."""
    for record in records:
        parts = record.subject.split(".")
        if parts[5] in tokens:
            yield record, parts[3], orjson.loads(record.body)


def _members(records: Sequence[Record], found: Findings) -> Mapping[str, str]:
    """Return the members of the world, with its id."""
    starts = _of(records, SessionStarted.token)
    members = {agent: body["world"] for _, agent, body in starts if body.get("world")}
    found.expect("no world was begun", holds=bool(members))
    found.figures["members"] = ", ".join(members)
    return members


def _counted(records: Sequence[Record], found: Findings) -> None:
    """Count decisions and their ends, asks and their results, and what agents heard."""
    decided = Counter[tuple[str, str]]()
    waiting = dict[str, str]()
    for record, agent, body in _of(records, Decided.token):
        if not body.get("timer"):
            decided[agent, body["event_id"]] += 1
        if not body.get("final"):
            waiting[record.headers["ce-id"]] = agent
    ends = Counter(
        body["decision_id"]
        for _, _, body in _of(records, Completed.token, Dropped.token)
    )
    asks = {
        record.headers["ce-id"]: body
        for record, _, body in _of(records, *(each.token for each in _ANSWERED))
    }
    results = Counter(
        orjson.loads(each.body)["ask_id"]
        for each in records
        if ".result." in each.subject and b'"ask_id"' in each.body
    )
    told = Counter(
        each.headers["ce-id"]
        for each in records
        if sensor_of(each.subject) == AGENT_SOURCE
    )
    found.figures |= {
        "decisions": decided.total(),
        "asks": len(asks),
        "told by agents": f"{len(told)}, of these {told.total() - len(told)} twice",
    }
    twice = [each for each, count in decided.items() if count > 1]
    found.expect(f"decided twice: {twice}", holds=not twice)
    twice_over = [each for each, count in ends.items() if count > 1]
    found.expect(f"ended twice: {twice_over}", holds=not twice_over)
    open_ = [each for each in waiting if each not in ends]
    found.expect(f"decisions without an end: {open_}", holds=not open_)
    lost = [each for each in asks if each not in results]
    found.expect(f"asks without a result: {lost}", holds=not lost)
    _spoken(list(asks.values()), found)


def _spoken(asks: Sequence[Any], found: Findings) -> None:
    """Count the speeches: none was begun that nobody said."""
    said = [
        body["action"] for body in asks if body.get("channel") == AGENT_SOURCE
        and body["action"]["type"] == "said"
    ]  # fmt: skip
    begun = [
        body for body in asks
        if body.get("channel") == "talk" and (body.get("action") or {}).get("type") == "speak"
    ]  # fmt: skip
    found.figures["speeches"] = f"{len(begun)} begun, of {len(said)} said to the place"
    found.expect("more speeches than were said", holds=len(begun) <= len(said))
    found.expect("nobody spoke: the campaign shows nothing", holds=bool(begun))


def _heard_once(living: Village, found: Findings) -> None:
    """Nothing came twice to the world, by the id of the ask."""
    lines = living.heard.read_text().splitlines() if living.heard.exists() else []
    heard = Counter(json.loads(line)["id"] for line in lines)
    spoken = sum(json.loads(line)["channel"] == "talk" for line in lines)
    found.figures["heard by the world"] = f"{len(heard)}, {spoken} of them words"
    twice = [each for each, count in heard.items() if count > 1]
    found.expect(f"heard twice: {twice}", holds=not twice)
    found.expect("the world heard nothing", holds=bool(heard))


def _going_on(
    records: Sequence[Record], states: Mapping[str, AgentState], found: Findings
) -> None:
    """No plan and no conversation stands still."""
    acted = dict[str, datetime]()
    for record, agent, body in _of(records, Decided.token):
        if body.get("layer"):
            acted[agent] = datetime.fromisoformat(record.headers["ce-time"])
    moved = dict[str, datetime]()
    over = set[str]()
    for record, _, body in _of(records, ConversationMoved.token):
        id_ = body["conversation_id"]
        moved[id_] = datetime.fromisoformat(record.headers["ce-time"])
        if body.get("after") is None:
            over.add(id_)
    open_ = {
        talk.id: state.now
        for state in states.values()
        for talk in state.character.place.conversations
    }
    found.figures["conversations"] = f"{len(moved)} begun, {len(over)} over"
    found.expect("no conversation came to its end", holds=bool(over))
    gone = moved.keys() - over - open_.keys()
    found.expect(f"conversations that nobody ended: {gone}", holds=not gone)
    stuck = [id_ for id_, now in open_.items() if now and now - moved[id_] > _STILL]
    found.expect(f"conversations that are stuck: {stuck}", holds=not stuck)
    for agent, state in states.items():
        plan, now = state.character.plan, state.now
        if not plan.tasks and not plan.builds:
            continue
        name = f"plan of {agent}"
        found.figures[name] = f"{len(plan.tasks)} entries, {len(plan.builds)} builds"
        still = now is None or agent not in acted or now - acted[agent] > _STILL
        found.expect(f"the {name} stands still", holds=not still)


def _world(living: Village, found: Findings) -> None:
    """Have the world exported as one file, and decided again from it."""
    file = living.folder / "world.echoic"
    living.command("session", "export", "--world", "last", "-o", str(file))
    world = as_json(living, found, "replay", "verify", str(file))
    size = file.stat().st_size if file.exists() else 0
    found.figures["world"] = (
        f"{world.get('identical')}/{world.get('total')} identical,"
        f" {world.get('told')} messages between agents, {size:,} bytes"
    )
