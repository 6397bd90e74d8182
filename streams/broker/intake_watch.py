"""The watch over the intake: it counts what sensors send, and sets who is refused.

`streams.bounds` decides. With another's broker nobody is refused by account and the disk is
not ours to see: what waits is bounded there, and the rest is for its operator.
"""

import asyncio
import json
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import nats.errors

from schemas.values.subjects import partition_of
from streams.bounds import (
    Limits,
    Room,
    Seen,
    Standing,
    amend_standing,
    bound_of,
    judged,
    standing_in,
    why,
)
from streams.broker import data_folder as folders
from streams.broker.enrolment import refuse_sensors
from streams.cancellation import heed_cancellation
from streams.errors import LogFull, StreamsError
from streams.jetstream.accounts import SENSORS, Credentials, SensorAccess
from streams.jetstream.connection import ATTEMPT_S, connect, insist
from streams.jetstream.draining import Box, boxes
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import live_of
from streams.topology import BOXES

_ASKED = "$SYS.REQ.ACCOUNT.PING.STATZ"
_EVERY = b'{"include_unused": true}'


class Traffic:
    """What sensors have sent since they were last asked about."""

    def __init__(self, system: Credentials) -> None:
        """Ask with the credentials of the broker's own account; `async with` connects."""
        self._system = system
        self._client: BrokerClient | None = None
        self._server = ""
        self._counted: dict[str, int] = {}

    async def __aenter__(self) -> Self:
        self._client = await connect(self._system, "echoic traffic")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def since(self) -> dict[str, int]:
        """Return the bytes that each sensor has sent since the last call, or the start.

        Headers and bodies count, also of what the broker refused.

        Raises:
            nats.errors.Error: the broker does not answer.
        """
        if self._client is None:
            raise nats.errors.ConnectionClosedError
        reply = await self._client.request(_ASKED, _EVERY, timeout=ATTEMPT_S)
        answer = json.loads(reply.data)
        # One that was started again counts from zero.
        server, before = str(answer["server"]["id"]), self._counted
        if server != self._server:
            before = {}
        self._server, self._counted = server, received(answer)
        return {
            sensor: count - before.get(sensor, 0)
            for sensor, count in self._counted.items()
        }


def received(answer: dict[str, Any]) -> dict[str, int]:
    """Return the bytes that the broker has had of each sensor since its start."""
    every = answer["data"]["account_statz"]
    return {
        each["acc"].removeprefix(SENSORS): each["received"]["bytes"]
        for each in every
        if each["acc"].startswith(SENSORS)
    }


LOOK_S = 0.5
"""Seconds between two looks: a sensor can send some 50 MB meanwhile."""

Tell = Callable[[str], None]

_log = logging.getLogger(__name__)


class IntakeWatch:
    """One look after the other at what sensors send."""

    def __init__(
        self,
        client: BrokerClient,
        limits: Limits,
        *,
        folder: Path | None = None,
        traffic: Traffic | None = None,
        tell: Tell = _log.warning,
        room: Callable[[Path], Room] | None = None,
    ) -> None:
        """Look by a connection, which the caller closes.

        `folder` and `traffic` are of the embedded broker, None with another's. `room` looks
        at the disk of a folder.
        """
        self._client, self._limits, self._tell = client, limits, tell
        self._folder, self._traffic, self._room = folder, traffic, room or _disk_room
        noted = standing_in(folder) if folder else None
        self._standing = noted or Standing()
        self._is_due = False

    @property
    def standing(self) -> Standing:
        """Where everybody stands, by the last look."""
        return self._standing

    async def look(self) -> Standing:
        """Look once, and set what follows from it.

        Raises:
            StreamsError, nats.errors.Error: the broker is away, or refuses.
        """
        held = await boxes(self._client)
        sent = await self._traffic.since() if self._traffic else {}
        sensors = self._sensors()
        seen = Seen(
            day=datetime.now(UTC).date().isoformat(),
            room=self._room(self._folder) if self._folder else None,
            sensors={
                each.user: BOXES[partition_of(each.agent)].name for each in sensors
            },
            sent=sent,
            waiting={name: each.held for name, each in held.items()},
        )
        before, self._standing = self._standing, self._judged(seen)
        await self._refuse(sensors)
        await self._bound(held, seen.sensors)
        self._say(before)
        return self._standing

    def _judged(self, seen: Seen) -> Standing:
        """Return where everybody stands, with what doors have counted, and note it."""

        def change(noted: Standing | None) -> Standing:
            return judged(noted or self._standing, seen, self._limits)

        if self._folder is not None:
            with suppress(OSError):
                return amend_standing(self._folder, change)
        return change(None)

    def _sensors(self) -> tuple[SensorAccess, ...]:
        identity = folders.recall(self._folder) if self._folder else None
        return identity.sensors if identity else ()

    async def _bound(self, held: Mapping[str, Box], sensors: Mapping[str, str]) -> None:
        """Set what the intake streams may hold, where it is not so already."""
        refused = {sensors.get(each) for each in self._standing.refused}
        # They have sent on until the broker refused them.
        for name, box in (await boxes(self._client) if refused else held).items():
            beside = box.held if name in refused else 0
            bound = bound_of(name, self._standing, self._limits, beside)
            if box.bound != bound:
                live = await live_of(self._client, name)
                subject = f"$JS.API.STREAM.UPDATE.{name}"
                # Nothing that it holds is lost, however much that is: it discards the new.
                await insist(
                    self._client, subject, {**(live or {}), "max_bytes": bound}
                )

    async def _refuse(self, sensors: Sequence[SensorAccess]) -> None:
        """Have the broker refuse who is refused, where its configuration says otherwise."""
        noted = {each.user for each in sensors if each.is_refused}
        # A door refuses those that have no account.
        refused = self._standing.refused.keys() & {each.user for each in sensors}
        if self._folder is not None and (refused != noted or self._is_due):
            # If it fails, the next look has to try again though the configuration is right.
            self._is_due = True
            await refuse_sensors(self._folder, refused)
            self._is_due = False

    def _say(self, before: Standing) -> None:
        now = self._standing
        for sensor in now.refused.keys() - before.refused.keys():
            self._tell(f"{sensor} is refused: {why(now, sensor, self._limits)}")
        for sensor in before.refused.keys() - now.refused.keys():
            self._tell(f"{sensor} is let in again")
        if now.is_closed and not before.is_closed:
            self._tell(
                "storage full: what sensors send is refused, see `echoic doctor`"
            )
        if before.is_closed and not now.is_closed:
            self._tell("there is room again: what sensors send is taken")


async def keep_bounds(
    client: BrokerClient, limits: Limits, *, folder: Path | None, tell: Tell
) -> None:
    """Look twice a second, until cancelled; `folder` is that of the embedded broker."""
    async with AsyncExitStack() as stack:
        traffic = await _traffic(stack, folder)
        watch = IntakeWatch(client, limits, folder=folder, traffic=traffic, tell=tell)
        told = False
        while True:
            heed_cancellation()
            try:
                await watch.look()
            except LogFull as error:
                if not told:
                    tell(f"what waits in intake streams has no bound: {error}")
                told = True
            except (StreamsError, nats.errors.Error, OSError) as error:
                _log.info("the intake was not looked at: %s", error)
            await asyncio.sleep(LOOK_S)


async def _traffic(stack: AsyncExitStack, folder: Path | None) -> Traffic | None:
    """Connect to where the embedded broker tells what was sent, however long it takes."""
    while folder is not None:
        heed_cancellation()
        try:
            if (identity := folders.recall(folder)) is None:
                return None
            return await stack.enter_async_context(Traffic(identity.system))
        except StreamsError as error:
            _log.info("what sensors send is not counted yet: %s", error)
        await asyncio.sleep(LOOK_S)
    return None


def _disk_room(folder: Path) -> Room:
    """Return what the disk of a folder has."""
    usage = shutil.disk_usage(folder)
    return Room(usage.free, usage.total)
