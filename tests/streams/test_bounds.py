"""The bounds of the intake: who is refused, when all are, and who never is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streams.bounds import (
    CLOSED_BYTES,
    Limits,
    Room,
    Seen,
    Standing,
    admitted,
    bound_of,
    box_bytes,
    floor_of,
    judged,
    why,
)

MB, GB = 10**6, 10**9
LIMITS = Limits(waiting=256 * MB, day=8_192 * MB, floor=512 * MB)
WIDE = Room(500 * GB, 1_000 * GB)
SMALL = Room(200 * MB, 260 * MB)


def seen(**changed: Any) -> Seen:
    fields: dict[str, Any] = {
        "day": "2026-11-27",
        "room": WIDE,
        "sensors": {"ada.cam": "IN_1", "ada.mic": "IN_1", "bob.tv": "IN_2"},
        "sent": {},
        "waiting": {},
    }
    return Seen(**(fields | changed))


def test_an_honest_sensor_is_never_refused_in_a_week() -> None:
    """A hundred events a second of 900 bytes, five senders, one look every ten seconds.

    The log keeps six times what a sensor sends (with answers), so the disk fills as it would.
    """
    sensors = {f"ada.s{n}": "IN_1" for n in range(5)}
    each, looked_s = 100 * 900, 10
    standing, free = Standing(), 3_000 * GB
    at = datetime(2026, 11, 23, 5, tzinfo=UTC)
    for _ in range(7 * 24 * 3600 // looked_s):
        at += timedelta(seconds=looked_s)
        free -= 6 * 5 * each * looked_s
        standing = judged(
            standing,
            seen(
                day=at.date().isoformat(),
                room=Room(free, 4_000 * GB),
                sensors=sensors,
                sent=dict.fromkeys(sensors, each * looked_s),
                # What an intake stream holds before it is emptied, and a moment's backlog.
                waiting={"IN_1": 9 * MB},
            ),
            LIMITS,
        )
        assert not standing.refused
        assert not standing.is_closed


@pytest.mark.parametrize("room", [WIDE, SMALL, None])
def test_the_bytes_of_a_day_are_the_sender_s_alone(room: Room | None) -> None:
    """Who sends more is refused till the next day, and nobody else."""
    limits = Limits(waiting=256 * MB, day=10 * MB, floor=512 * MB)
    first = judged(Standing(), seen(room=room, sent={"ada.cam": 11 * MB}), limits)
    later = judged(first, seen(room=room, sent={"ada.mic": MB}), limits)
    morning = judged(later, seen(room=room, day="2026-11-28"), limits)

    assert first.refused == later.refused == {"ada.cam": "day"}
    assert morning.refused == {}


def test_what_was_refused_does_not_count() -> None:
    """A sender that goes on all day has the next day like any other."""
    limits = Limits(waiting=256 * MB, day=10 * MB, floor=512 * MB)
    first = judged(Standing(), seen(sent={"ada.cam": 11 * MB}), limits)
    again = judged(first, seen(sent={"ada.cam": 500 * MB}), limits)

    assert again.used == {"ada.cam": 11 * MB}


@pytest.mark.parametrize("flooding", [1, 2, 3])
def test_nobody_s_part_of_the_room_can_be_taken(flooding: int) -> None:
    """However many sensors take all they may, what the others may take is still there."""
    sensors = {f"ada.s{n}": f"IN_{n}" for n in range(4)}
    standing, free = Standing(), SMALL.free
    floor = floor_of(SMALL, LIMITS)
    while len(standing.refused) < flooding:
        sending = list(sensors)[:flooding]
        sent = {each: MB for each in sending if each not in standing.refused}
        free -= sum(sent.values())
        room = Room(free, SMALL.total)
        standing = judged(standing, seen(room=room, sensors=sensors, sent=sent), LIMITS)

    part = standing.part or 0
    assert part >= (SMALL.free - floor) // 5 - MB
    assert free - floor >= (4 - flooding) * part
    assert set(standing.refused.values()) == {"room"}
    assert not standing.is_closed


def test_a_part_that_grows_lets_in_again() -> None:
    """Room that was made on the disk is everybody's."""
    sent = seen(room=SMALL, sent={"ada.cam": 60 * MB})
    first = judged(Standing(), sent, LIMITS)
    made = judged(first, seen(room=WIDE), LIMITS)

    assert first.refused == {"ada.cam": "room"}
    assert made.refused == {}


def test_what_waits_refuses_its_sender_and_not_the_neighbour() -> None:
    """Of an intake stream that is a quarter full, and until it has fallen to a sixteenth."""
    standing = judged(
        Standing(),
        seen(
            sent={"ada.cam": 150 * MB, "ada.mic": MB},
            waiting={"IN_1": 151 * MB, "IN_2": 0},
        ),
        LIMITS,
    )
    between = judged(standing, seen(waiting={"IN_1": 50 * MB}), LIMITS)
    after = judged(between, seen(waiting={"IN_1": 15 * MB}), LIMITS)

    assert standing.refused == between.refused == {"ada.cam": "waiting"}
    assert after.refused == {}


def test_what_was_taken_is_taken_off_from_all() -> None:
    """A quiet sensor's share of what waits stays small beside a flood that never ends."""
    standing, limits = Standing(), Limits(waiting=256 * MB, day=GB * GB, floor=GB)
    for _ in range(1_000):
        standing = judged(
            standing,
            seen(sent={"ada.cam": 10 * MB, "ada.mic": MB}, waiting={"IN_1": 60 * MB}),
            limits,
        )

    assert standing.waiting["ada.mic"] <= 6 * MB
    assert not standing.refused


@pytest.mark.parametrize(
    ("free_mb", "closed", "closes"),
    [
        (520, False, False),
        (511, False, True),
        (520, True, True),
        (639, True, True),
        (641, True, False),
    ],
)
def test_the_floor_closes_below_it_and_opens_well_above(
    free_mb: int, closed: bool, closes: bool
) -> None:
    """It is not closed and opened with every message."""
    room = Room(free_mb * MB, 1_000 * GB)
    standing = judged(Standing(is_closed=closed), seen(room=room), LIMITS)

    assert standing.is_closed == closes


def test_what_people_say_comes_in_to_half_the_floor() -> None:
    """Sensors are refused first."""
    for free_mb, box, letters in ((500, True, False), (200, True, True)):
        room = Room(free_mb * MB, 1_000 * GB)
        standing = judged(Standing(), seen(room=room), LIMITS)

        assert (bound_of("IN_3", standing, LIMITS) == CLOSED_BYTES) == box
        assert (bound_of("IN", standing, LIMITS) == CLOSED_BYTES) == letters


@pytest.mark.parametrize(
    ("room", "refused_mb", "bound_mb"),
    [
        # As much as ever, also where it holds little of whom it refuses.
        (WIDE, 0, 256),
        (WIDE, 100, 256),
        # A part of it, 64 MB here, beside what they have sent, in whole parts.
        (WIDE, 192, 320),
        (WIDE, 255, 320),
        (WIDE, 400, 512),
        # The floor is above all.
        (Room(500 * MB, 1_000 * GB), 255, 0),
    ],
)
def test_beside_who_is_refused_there_is_room_for_the_others(
    room: Room, refused_mb: int, bound_mb: int
) -> None:
    """What floods have sent until the broker refused them takes nobody's place."""
    standing = judged(Standing(), seen(room=room), LIMITS)
    bound = bound_of("IN_1", standing, LIMITS, refused_mb * MB)

    assert bound == (bound_mb * MB or CLOSED_BYTES)


def test_a_door_counts_with_the_watch_and_a_day_s_refusal_ends_with_it() -> None:
    """One count by sender; who has no account is kept among the refused, and no more named
    than are counted."""
    limits = Limits(waiting=256 * MB, day=10 * MB, floor=512 * MB)
    half = judged(Standing(), seen(sent={"ada.cam": 6 * MB}), limits)
    _, over = admitted(half, "ada.cam", 5 * MB, half.day, limits)
    full, _ = admitted(half, "token ada", 10 * MB, half.day, limits)
    full, by = admitted(full, "token ada", 1, half.day, limits)
    looked = judged(full, seen(), limits)
    raised = judged(full, seen(), Limits(waiting=MB, day=20 * MB, floor=MB))
    morning = judged(full, seen(day="2026-11-28"), limits)
    first, _ = admitted(full, "token ada", 1, "2026-11-28", limits)
    many = replace(half, used=dict.fromkeys(map(str, range(1_000)), 0))
    more, _ = admitted(many, "new", 1, half.day, limits)

    assert (over, by) == ("ada.cam", "token ada")
    assert looked.refused == {"token ada": "day"}
    assert why(looked, "token ada", limits).startswith("10.0 MB today, intake.day_mb")
    assert raised.refused == morning.refused == first.refused == {}
    assert first.used == {"token ada": 1}
    assert more.used.keys() - many.used.keys() == {"others"}


@pytest.mark.parametrize(
    ("room", "bound"),
    [(None, 256 * MB), (WIDE, 256 * MB), (SMALL, 2**25), (Room(MB, 260 * MB), 2**20)],
)
def test_an_intake_stream_holds_a_part_of_a_small_disk(
    room: Room | None, bound: int
) -> None:
    """And what the setting says on another."""
    assert box_bytes(room, LIMITS) == bound
