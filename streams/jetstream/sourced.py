"""How far the log has taken what the intake streams hold, as the log itself tells.

A new segment begins to source behind the last of what the one before took: the position of
the old segment's consumer may lag behind.
"""

from typing import Any

from streams.jetstream.connection import ApiError, insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.origins import SENSED, last_of_each
from streams.segments import Segment
from streams.topology import BOXES, IN, SENSOR_SUBJECTS, StreamSpec

_RECENT = 1_000
"""How many of the last messages of `IN` are looked for first; beyond them, all of it."""

_NO_MESSAGE = 10037
_CONSUMER_NOT_FOUND = 10014


async def begins(client: BrokerClient, segment: Segment) -> dict[str, int]:
    """Return where the successors of a sealed segment begin to source, by source.

    The names are those of `Segment.begins`.
    """
    found = dict(segment.begins)
    for each in segment.every:
        if begin := await behind_box(client, segment, BOXES[each]):
            found[BOXES[each].name] = begin
    return found | await _behind_in(client, segment)


async def last_taken(client: BrokerClient, segment: Segment) -> int:
    """Return the last sequence of `IN` that a segment or one before has sourced; 0 for none."""
    # What the segments before have taken, this one need not.
    behind = segment.begins | await _behind_in(client, segment)
    of_in = [behind[name] for name in behind if name.partition("/")[0] == IN.name]
    return max(of_in, default=1) - 1


async def behind_box(
    client: BrokerClient, segment: Segment, box: StreamSpec
) -> int | None:
    """Return which sequence of an intake stream a segment has not taken yet.

    None if it has taken nothing of it.
    """
    info = await consumer_of_box(client, segment, box)
    # The roll-over that was to make this segment never came that far.
    if info is None:
        return None
    # Acknowledged once it is stored; what is under way may be stored and not acknowledged.
    floor: int = info["ack_floor"]["stream_seq"]
    state = await state_of(client, box.name)
    if floor >= state["last_seq"] or not state["messages"]:
        return floor + 1 if floor else None
    behind = await stored_at(client, box.name, max(floor + 1, state["first_seq"]))
    partition = box.name.rpartition("_")[2]
    filters = (f"ev.{partition}.in.*.sensor.>",)
    taken = await last_of_each(client, segment.stream, filters, behind)
    last = max(floor, taken.get(box.name, 0))
    return last + 1 if last else None


async def consumer_of_box(
    client: BrokerClient, segment: Segment, box: StreamSpec
) -> dict[str, Any] | None:
    """Return what the server says of the consumer by which a segment sources a box.

    None if there is no such consumer: a sealed log sources nothing.
    """
    subject = f"$JS.API.CONSUMER.INFO.{box.name}.{segment.stream}"
    try:
        return dict(await insist(client, subject, {}))
    except ApiError as error:
        if error.code == _CONSUMER_NOT_FOUND:
            return None
        raise


async def _behind_in(client: BrokerClient, segment: Segment) -> dict[str, int]:
    state = await state_of(client, IN.name)
    if not state["messages"]:
        # What it held is sourced or too old, and what comes has a higher sequence.
        return dict.fromkeys(_names_of_in(segment), state["last_seq"] + 1)
    starts = {max(state["first_seq"], state["last_seq"] - _RECENT), state["first_seq"]}
    found: dict[str, int] = {}
    for start in sorted(starts, reverse=True):
        behind = await stored_at(client, IN.name, start)
        taken = await last_of_each(
            client, segment.stream, (SENSED, SENSOR_SUBJECTS), behind
        )
        found = {
            name: last + 1
            for name, last in taken.items()
            if name.partition("/")[0] == IN.name
        }
        # Each partition has a place of its own in a routed one: one of them says nothing
        # of the others, unless everything was looked at.
        if found and found.keys() == {IN.name}:
            return found
    return found


def _names_of_in(segment: Segment) -> list[str]:
    return [name for name in segment.begins if name.partition("/")[0] == IN.name]


async def state_of(client: BrokerClient, stream: str) -> dict[str, Any]:
    """Return what the server says of a stream's messages."""
    info = await insist(client, f"$JS.API.STREAM.INFO.{stream}", {})
    state: dict[str, Any] = info["state"]
    return state


async def stored_at(client: BrokerClient, stream: str, sequence: int) -> str:
    """Return when a message was stored, or the next one that is left."""
    subject = f"$JS.API.STREAM.MSG.GET.{stream}"
    try:
        found = await insist(client, subject, {"seq": sequence, "next_by_subj": ">"})
    except ApiError as error:
        if error.code != _NO_MESSAGE:
            raise
        return str((await state_of(client, stream))["last_ts"])
    return str(found["message"]["time"])
