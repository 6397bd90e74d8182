"""The bounds of the intake: who is refused, when all sensors are, and the file of the count.

Whatever the log has taken stays for ever, so what a sensor may send has to be bounded before
it is stored. Three bounds hold. A sensor has bytes a day, and no more than its part of the
disk's room, which nobody else can take. What waits in an intake stream is divided among its
sensors. Below a floor of free disk sensors are refused, so that the mind goes on.
"""

import fcntl
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from streams.topology import IN

Reason = Literal["day", "room", "waiting"]
"""Why a sensor is refused: its bytes of the day, its part of the disk's room, or its part of
what may wait in its intake stream are used up."""

_STANDING = "intake.json"

_FLOOR_PART = 5
"""The floor is at most this part of a disk, so that a small one can be used at all."""

_BOX_PART = 4
"""An intake stream holds at most this part of the disk's room."""

_LEAST_BOX_BYTES = 2**20
"""What an intake stream may hold on the smallest disk."""

_REOPENED = 1.25
"""How many floors must be free until sensors are let in again."""

_LET_IN = 0.75
"""Below which part of its bytes of the day a sensor is let in again; they may have grown."""

HIGH, LOW = 1 / 4, 1 / 16
"""Parts of an intake stream's bound: from the one on its greatest senders are refused, until
it has fallen to the other."""

_MOST_COUNTED = 1_000
"""How many senders are counted by name; what doors take for any more counts as of one."""

_RESERVED = 1 / 4
"""Part of an intake stream's bound that stays free for those who are not refused."""

CLOSED_BYTES = 1
"""The bound of an intake stream that takes nothing: no message is so small."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The settings, in bytes."""

    waiting: int
    """In each intake stream."""
    day: int
    """Sent by one sensor in a day."""
    floor: int
    """Left free on the disk."""


class Room(msgspec.Struct, frozen=True):
    """What a disk has, in bytes."""

    free: int
    total: int


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen at one look."""

    day: str
    """The date in UTC."""
    room: Room | None
    """None: the broker's disk is not ours to look at."""
    sensors: Mapping[str, str]
    """The intake stream of each sensor."""
    sent: Mapping[str, int]
    """The bytes that sensors have sent since the last look."""
    waiting: Mapping[str, int]
    """The bytes that each intake stream holds."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where everybody stands, from one look to the next."""

    day: str = ""
    used: dict[str, int] = {}
    """The bytes of the day, by sender: sensors, and who sends through a door of ours."""
    waiting: dict[str, float] = {}
    """The bytes of each sensor in its intake stream, as estimated."""
    refused: dict[str, Reason] = {}
    is_closed: bool = False
    """Whether less than the floor is free, so that no sensor is let in."""
    part: int | None = None
    """What each sensor may send today, as its part of the disk's room; None: any amount."""
    room: Room | None = None


def judged(before: Standing, seen: Seen, limits: Limits) -> Standing:
    """Return where everybody stands after a look."""
    used = _used(before, seen)
    waiting = _waiting(before, seen)
    part = _part(seen, limits, used)
    refused: dict[str, Reason] = {}
    for sensor, box in seen.sensors.items():
        of_day = _over_day(before, sensor, used.get(sensor, 0), limits, part)
        if of_day is not None:
            refused[sensor] = of_day
        elif _over_waiting(before, seen, limits, sensor, box, waiting):
            refused[sensor] = "waiting"
    for sender in before.refused:
        # Whom a door refuses, which has no part of the room.
        if sender not in seen.sensors and _over_day(
            before, sender, used.get(sender, 0), limits, None
        ):
            refused[sender] = "day"
    return Standing(
        day=seen.day,
        used=used,
        waiting=waiting,
        refused=refused,
        is_closed=_is_closed(before, seen.room, limits),
        part=part,
        room=seen.room,
    )


def admitted(
    before: Standing, sender: str, size: int, day: str, limits: Limits
) -> tuple[Standing, str | None]:
    """Return where everybody stands once a message came to a door.

    Besides as whom it is refused, if it is.
    """
    now = before
    if before.day != day:
        kept = {each: why for each, why in before.refused.items() if why != "day"}
        now = replace(before, day=day, used={}, refused=kept)
    if sender not in now.used and len(now.used) >= _MOST_COUNTED:
        sender = "others"
    used = now.used.get(sender, 0) + size
    if used > limits.day:
        return replace(now, refused={**now.refused, sender: "day"}), sender
    return replace(now, used={**now.used, sender: used}), None


def why(standing: Standing, sender: str, limits: Limits) -> str:
    """Return in words why a sender is refused, and until when."""
    sent = standing.used.get(sender, 0) / 1e6
    match standing.refused[sender]:
        case "day":
            return (
                f"{sent:,.1f} MB today, intake.day_mb allows"
                f" {limits.day / 1e6:,.1f}; again from 00:00 UTC"
            )
        case "room":
            return (
                f"{sent:,.1f} MB today, its part of the disk's room is"
                f" {(standing.part or 0) / 1e6:,.1f}: free some space, or wait till 00:00 UTC"
            )
        case "waiting":
            return "it sends faster than the log takes; it is let in again in a moment"


def standing_in(folder: Path) -> Standing | None:
    """Return how senders stood when it was last noted; None if it never was."""
    try:
        return _standing((folder / _STANDING).read_bytes())
    except OSError:
        return None


def amend_standing(
    folder: Path, change: Callable[[Standing | None], Standing]
) -> Standing:
    """Change how senders stand: one count over all programs of a data folder.

    Raises:
        OSError: it can be noted nowhere.
    """
    opened = os.open(folder / _STANDING, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(opened, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        now = change(_standing(file.read()))
        file.seek(0)
        # A line, so that who is killed before it is cut leaves it whole; cut to nothing
        # first, ext4 would sync it at each close.
        file.write(msgspec.json.encode(now) + b"\n")
        file.truncate()
    return now


def _standing(noted: bytes) -> Standing | None:
    try:
        return msgspec.json.decode(noted.partition(b"\n")[0], type=Standing)
    except msgspec.DecodeError:
        return None


def floor_of(room: Room, limits: Limits) -> int:
    """Return how many bytes of a disk are to stay free."""
    return min(limits.floor, room.total // _FLOOR_PART)


def box_bytes(room: Room | None, limits: Limits) -> int:
    """Return how many bytes an intake stream may hold."""
    if room is None:
        return limits.waiting
    left = max((room.free - floor_of(room, limits)) // _BOX_PART, _LEAST_BOX_BYTES)
    # A power of two, so that it seldom changes as the disk fills.
    return min(limits.waiting, 1 << (left.bit_length() - 1))


def bound_of(box: str, standing: Standing, limits: Limits, refused: int = 0) -> int:
    """Return the bound of an intake stream as things stand.

    What people say comes by `IN`, and is taken to half the floor. `refused` is what it holds
    where some of its senders are refused, else 0: the others have room beside that.
    """
    room = standing.room
    is_closed = standing.is_closed
    if box == IN.name and room is not None:
        is_closed = is_closed and room.free < floor_of(room, limits) // 2
    if is_closed:
        return CLOSED_BYTES
    most = box_bytes(room, limits)
    part = int(most * _RESERVED)
    # In whole parts, so that it changes seldom. It cannot grow for long: who adds to it is
    # refused at the next look.
    return max(most, part * (refused // part + 2))


def _used(before: Standing, seen: Seen) -> dict[str, int]:
    used = dict(before.used) if before.day == seen.day else {}
    for sensor, sent in _taken(before, seen).items():
        used[sensor] = used.get(sensor, 0) + sent
    return used


def _taken(before: Standing, seen: Seen) -> dict[str, int]:
    """Return what was sent by those who were let in; what was refused takes no room."""
    if before.is_closed:
        return {}
    return {
        sensor: sent
        for sensor, sent in seen.sent.items()
        if sent and sensor not in before.refused
    }


def _part(seen: Seen, limits: Limits, used: Mapping[str, int]) -> int | None:
    """Return what each sensor may send today by the room there is.

    What was sent today has left the room and is counted as if it had not, so that the part is
    the same all day. One part more than there are sensors is for what the mind writes.
    """
    if seen.room is None:
        return None
    room = (
        seen.room.free
        - floor_of(seen.room, limits)
        + sum(int(used.get(each, 0)) for each in seen.sensors)
    )
    return max(0, room // (len(seen.sensors) + 1))


def _over_day(
    before: Standing, sensor: str, used: int, limits: Limits, part: int | None
) -> Reason | None:
    was_over = before.refused.get(sensor) in ("day", "room")
    edge = _LET_IN if was_over else 1.0
    if used > limits.day * edge:
        return "day"
    return "room" if part is not None and used > part * edge else None


def _waiting(before: Standing, seen: Seen) -> dict[str, float]:
    """Return who has how much waiting: what left an intake stream was everybody's alike."""
    found = dict(before.waiting)
    for sensor, sent in _taken(before, seen).items():
        found[sensor] = found.get(sensor, 0.0) + sent
    sums: dict[str, float] = {}
    for sensor, box in seen.sensors.items():
        sums[box] = sums.get(box, 0.0) + found.get(sensor, 0.0)
    return {
        sensor: found[sensor] * min(1.0, seen.waiting.get(box, 0) / sums[box])
        for sensor, box in seen.sensors.items()
        if found.get(sensor)
    }


def _over_waiting(
    before: Standing,
    seen: Seen,
    limits: Limits,
    sensor: str,
    box: str,
    waiting: Mapping[str, float],
) -> bool:
    bound, held = box_bytes(seen.room, limits), seen.waiting.get(box, 0)
    if before.refused.get(sensor) == "waiting":
        return held > bound * LOW
    if held <= bound * HIGH:
        return False
    # Who has less than an equal part is never refused for what others send.
    sharing = sum(1 for each in seen.sensors.values() if each == box)
    return waiting.get(sensor, 0.0) >= bound * HIGH / sharing


def _is_closed(before: Standing, room: Room | None, limits: Limits) -> bool:
    if room is None:
        return False
    floor = floor_of(room, limits)
    return room.free < (floor * _REOPENED if before.is_closed else floor)
