"""Closing the open segments of a log and beginning the next ones, restartable at every step.

The steps, each of which finds out by itself whether it was done: the list names what is
prepared; `IN` stores by partition, if several streams are to source it; what it held before
is taken; the intake is closed; the old streams are sealed, and give up the log's subjects;
the new ones are made, which source from where the old ones left off; each partition begins
with `SegmentClosed`; and one compare-and-set makes the new ones the open ones (ADR 0061).
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from uuid import UUID, uuid5

import msgspec

from schemas.codec.encode import wire_digest
from schemas.messages.controls import SegmentClosed
from schemas.values.subjects import SHARED_AGENT, input_subject, inputs_of, outputs_of
from streams.errors import LogRefused, StreamsError
from streams.jetstream import migrate, sourced
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.connection import DEADLINE_S, insist
from streams.jetstream.consumers import asks_left
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.read import stored
from streams.jetstream.registry import load, replace
from streams.log import append_input
from streams.segment_streams import segment_configuration, sources_of, streams_of
from streams.segments import COUNTS, Segment, Segments, State, first_sequence, planned
from streams.topology import IN, SENSOR_SUBJECTS, configuration

_SOURCE = "/echoic/segments"
"""The source of the inputs with which partitions begin anew."""

STEPS = (
    "planned",
    "routed",
    "drained",
    "intake closed",
    "sealed",
    "made",
    "noted",
    "opened",
)
"""What is told of a roll-over, in this order."""

_Tell = Callable[[str], None]

_LOOK_S = 0.05
"""Seconds between two looks at whether what `IN` held was taken."""


async def listed(client: BrokerClient) -> Segments:
    """Return the segments of the log."""
    return (await load(client))[0]


async def mark(
    client: BrokerClient, stream: str, state: State, before: State
) -> Segments:
    """Say that a segment is archived, or deleted; return the new list.

    Raises:
        LogRefused: it is not in the state `before`, or has asks that are not performed.
    """
    segments, revision = await load(client)
    found = next((each for each in segments.segments if each.stream == stream), None)
    if found is None or found.state != before:
        now = "no segment" if found is None else found.state
        raise LogRefused(f"{stream!r} is {now}, not {before}")
    # Nobody looks for the asks of one that is archived.
    if state == "archived" and (left := await asks_left(client, stream)):
        raise LogRefused(f"{stream!r} has {left} asks that were not performed yet")
    changed = tuple(
        msgspec.structs.replace(each, state=state) if each is found else each
        for each in segments.segments
    )
    segments = msgspec.structs.replace(segments, segments=changed)
    await replace(client, segments, revision)
    return segments


async def roll_over(
    client: BrokerClient,
    count: int | None,
    replicas: int = 1,
    tell: _Tell = lambda step: None,
    *,
    opens: bool = True,
) -> Segments:
    """Close the open segments, begin `count` new ones, and return the list.

    No worker may run. Called again after a crash it goes on, and with `count` None it does
    nothing but that. The intake is open afterwards, if `opens`.

    Raises:
        LogRefused: such a count is not offered, or another roll-over is under way.
        StreamsError: the broker does not answer, or does not take what it held.
    """
    if count is not None and count not in COUNTS:
        raise LogRefused(f"a log has 1, 2, 4, 8 or 16 streams, not {count}")
    segments, revision = await load(client)
    if not segments.preparing:
        if count is None:
            return segments
        segments = _with_plan(segments, count)
        revision = await replace(client, segments, revision, replicas)
        tell("planned")
    rolling = _RollOver(client, segments, replicas, tell)
    segments = await rolling.done()
    # The one moment from which the new segments are the log.
    await replace(client, segments, revision)
    tell("opened")
    if opens:
        await migrate.open_intake(client)
    return segments


def _with_plan(segments: Segments, count: int) -> Segments:
    return msgspec.structs.replace(
        segments, segments=(*segments.segments, *planned(segments, count))
    )


class _RollOver:
    """One roll-over, from its plan to the list that makes it true."""

    def __init__(
        self, client: BrokerClient, segments: Segments, replicas: int, tell: _Tell
    ) -> None:
        self._client = client
        self._segments = segments
        self._replicas = replicas
        self._tell = tell
        self._is_routed = segments.is_routed or len(segments.preparing) > 1
        self._is_private = False
        """Whether fields are sealed: then the log sources nothing, nor will its segments."""

    async def done(self) -> Segments:
        """Do whatever is left, and return what the list will be."""
        if await migrate.sealing(self._client):
            self._is_private, self._is_routed = True, False
        if self._is_routed and not self._segments.is_routed:
            await self._route()
        await migrate.close_intake(self._client)
        self._tell("intake closed")
        closed = [await self._sealed(each) for each in self._segments.open]
        self._tell("sealed")
        begun = await self._made(closed)
        self._tell("made")
        await self._note(closed, begun)
        self._tell("noted")
        kept = [each for each in self._segments.readable if each.last is not None]
        return Segments(segments=(*kept, *closed, *begun), is_routed=self._is_routed)

    async def _route(self) -> None:
        """Have `IN` store by partition, and the log take whatever it stored before."""
        routed = Segments(is_routed=True)
        (spec,) = (each for each in streams_of(routed) if each.name == IN.name)
        live = await migrate.live_of(self._client, IN.name) or {}
        renames = configuration(spec)["subject_transform"]
        if live.get("subject_transform") != renames:
            changed = {**live, "subject_transform": renames}
            await insist(self._client, f"$JS.API.STREAM.UPDATE.{IN.name}", changed)
        self._tell("routed")
        (log,) = self._segments.open
        unrouted = await self._last_unrouted()
        if (
            await self._is_closed(log)
            or await sourced.last_taken(self._client, log) >= unrouted
        ):
            return
        await migrate.set_sources(
            self._client, log.stream, sources_of(log, self._segments)
        )
        try:
            async with asyncio.timeout(DEADLINE_S):
                # The broker tells nobody when it has taken a message.
                while (await sourced.last_taken(self._client, log)) < unrouted:  # noqa: ASYNC110
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            raise StreamsError(
                f"{log.stream} does not take what {IN.name} holds: see `echoic doctor`,"
                " and begin again"
            ) from None
        self._tell("drained")

    async def _last_unrouted(self) -> int:
        """Return the last message of `IN` that a log of one stream has to take."""
        wanted = {"last_by_subj": SENSOR_SUBJECTS}
        found = await stored(self._client, wanted, IN.name)
        return found.sequence if found is not None else 0

    async def _is_closed(self, segment: Segment) -> bool:
        live = await migrate.live_of(self._client, segment.stream)
        return bool((live or {}).get("sealed"))

    async def _sealed(self, segment: Segment) -> Segment:
        """Seal a segment's stream, and return the segment as closed."""
        subject = f"$JS.API.STREAM.UPDATE.{segment.stream}"
        live = await migrate.live_of(self._client, segment.stream) or {}
        closed = msgspec.structs.replace(segment, last=0)
        if not live.get("sealed"):
            # At once: between two changes somebody could still write.
            own = segment_configuration(closed, self._segments)
            changed = {each: own[each] for each in ("subjects", "sources", "sealed")}
            await insist(self._client, subject, live | changed)
        info = await insist(self._client, f"$JS.API.STREAM.INFO.{segment.stream}", {})
        return msgspec.structs.replace(
            segment,
            last=info["state"]["last_seq"],
            state="closed",
            digest=await _end_digest(self._client, segment),
        )

    async def _made(self, closed: Sequence[Segment]) -> tuple[Segment, ...]:
        """Create the new streams, and return their segments as open."""
        last = max(each.last or 0 for each in (*self._segments.readable, *closed))
        left: dict[str, dict[str, int]] = {each.stream: {} for each in closed}
        for each in () if self._is_private else closed:
            left[each.stream] = await sourced.begins(self._client, each)
        begun = []
        for place, planned_ in enumerate(self._segments.preparing):
            segment = msgspec.structs.replace(
                planned_,
                first=first_sequence(place, last),
                state="open",
                begins=_begins(planned_, closed, left, is_routed=self._is_routed),
            )
            await self._create(segment)
            begun.append(segment)
        return tuple(begun)

    async def _create(self, segment: Segment) -> None:
        after = Segments(segments=(segment,), is_routed=self._is_routed)
        config = segment_configuration(segment, after, self._replicas)
        marks = await migrate.metadata_of(self._client)
        await migrate.create(
            self._client, config | {"sources": None, "metadata": marks}
        )
        if not self._is_private:
            await migrate.have_consumers(self._client, segment)

    async def _note(self, closed: Sequence[Segment], begun: Sequence[Segment]) -> None:
        """Begin each partition with what it goes on from, unless it has that already."""
        writer = JetStreamWriter(self._client)
        epoch = await migrate.epoch_of(self._client)
        for segment in begun:
            for partition in segment.every:
                before = next(each for each in closed if each.has(partition))
                await _begin(self._client, writer, epoch, segment, before, partition)


async def _begin(
    client: BrokerClient,
    writer: JetStreamWriter,
    epoch: UUID,
    segment: Segment,
    before: Segment,
    partition: int,
) -> None:
    kind, token = SegmentClosed.kind, SegmentClosed.token
    subject = input_subject(partition, SHARED_AGENT, kind, token)
    if await stored(client, {"last_by_subj": subject}, segment.stream) is not None:
        return
    note = SegmentClosed(
        stream=before.stream, last=before.last or 0, digest=before.digest
    )
    await append_input(
        writer,
        epoch,
        note,
        agent=SHARED_AGENT,
        partition=partition,
        # By what it says: one that is appended twice all the same is a duplicate.
        id_=str(uuid5(epoch, f"{before.stream}/{partition}")),
        source=_SOURCE,
    )


def _begins(
    segment: Segment,
    closed: Sequence[Segment],
    left: dict[str, dict[str, int]],
    *,
    is_routed: bool,
) -> dict[str, int]:
    """Return where a new segment begins to source, partition by partition."""
    found: dict[str, int] = {}
    for partition in segment.every:
        (before,) = (each for each in closed if each.has(partition))
        names = [f"{IN.name}_{partition}"]
        if is_routed:
            names.append(f"{IN.name}/{partition}")
        if partition == 0:
            names.append(IN.name)
        own = left[before.stream]
        found |= {name: own[name] for name in names if name in own}
    return found


async def _end_digest(client: BrokerClient, segment: Segment) -> str:
    """Return a digest of the last message of each partition and direction."""
    digest = hashlib.blake2b(digest_size=32)
    for partition in segment.every:
        for subjects in (inputs_of(partition), outputs_of(partition)):
            found = await stored(client, {"last_by_subj": subjects}, segment.stream)
            if found is not None:
                digest.update(f"{found.sequence}\n".encode())
                digest.update(wire_digest(found.subject, found.headers, found.body))
    return digest.hexdigest()
