"""What the streams of a segmented log must look like: open, closed, and their sources.

Like `streams.topology`, it talks to no broker.
"""

from dataclasses import replace

from schemas.values.subjects import PARTITIONS, SHARED_AGENT
from streams.segments import Segment, Segments
from streams.topology import (
    BOXES,
    IN,
    KEYS,
    LOG,
    LOG_SUBJECTS,
    SENSOR_TRANSFORMS,
    STREAMS,
    StreamSpec,
    Transform,
    box_consumer,
    configuration,
    sealed,
    source,
    source_of_box,
)

_ROUTED = Transform(
    source="in.*.>",
    target=f"ip.{{{{partition({PARTITIONS},1)}}}}.{{{{wildcard(1)}}}}.>",
)
"""How `IN` stores messages once several streams source it: each takes its own partitions. A
subject of two tokens has no place for a partition and stays as it is."""


def streams_of(
    segments: Segments, *, is_sealed: bool = False
) -> tuple[StreamSpec, ...]:
    """Return every stream of a log but its segments, in order of creation."""
    own = [each for each in STREAMS if each is not LOG]
    if is_sealed:
        return (KEYS, *map(sealed, own))
    if segments.is_routed:
        own[own.index(IN)] = replace(IN, renames=_ROUTED)
    return tuple(own)


def segment_configuration(
    segment: Segment, segments: Segments, replicas: int = 1, *, is_sealed: bool = False
) -> dict[str, object]:
    """Return the configuration of a segment's stream, without the epoch.

    One with sealed fields sources nothing.
    """
    takes = segment.last is None and not is_sealed
    config = configuration(LOG, replicas) | {
        "name": segment.stream,
        "subjects": list(_subjects_of(segment)),
        "sources": sources_of(segment, segments) if takes else None,
        "sealed": segment.last is not None,
    }
    if segment.stream != LOG.name:
        config["first_seq"] = segment.first
    return config


def _subjects_of(segment: Segment) -> tuple[str, ...]:
    """Return the subjects that a segment's stream takes.

    A closed one leaves those of the log to its successors; a stream needs some.
    """
    if segment.last is not None:
        return (f"closed.{segment.stream}",)
    if len(segment.every) == PARTITIONS:
        return (LOG_SUBJECTS,)
    return tuple(f"ev.{partition}.>" for partition in segment.every)


def sources_of(segment: Segment, segments: Segments) -> list[dict[str, object]]:
    """Return what an open segment sources, each from where the segment before left off."""
    begins = segment.begins
    if segments.is_routed:
        of_in = [
            source(IN.name, _of_partition(each))
            | {"opt_start_seq": begins.get(f"{IN.name}/{each}", 1)}
            for each in segment.every
        ]
        # Two tokens, and what the server stored without a transform: see stray_subjects.
        if 0 in segment.every:
            of_in.append(source(IN.name, _UNROUTED) | _behind(segment))
    else:
        of_in = [source(IN.name, SENSOR_TRANSFORMS) | _behind(segment)]
    boxes = [BOXES[each] for each in segment.every]
    return [*of_in, *(source_of_box(each, segment.stream) for each in boxes)]


def segment_consumer(box: StreamSpec, segment: Segment) -> dict[str, object]:
    """Return the durable consumer by which a segment sources an intake stream."""
    config = box_consumer(box, segment.stream)
    if begin := segment.begins.get(box.name):
        config |= {"deliver_policy": "by_start_sequence", "opt_start_seq": begin}
    return config


def _behind(segment: Segment) -> dict[str, object]:
    # Without a start the server begins an added source at the stream's last message, and so
    # passes over what was there before. The first segment is of before that was known.
    if segment.stream == LOG.name:
        return {}
    return {"opt_start_seq": segment.begins.get(IN.name, 1)}


def _of_partition(partition: int) -> tuple[Transform, ...]:
    """Return how the messages of a partition in a routed `IN` become inputs."""
    routed, odd = f"ip.{partition}", f"ev.{partition}.in.{SHARED_AGENT}.sensor"
    first, second, third = (f"{{{{wildcard({n})}}}}" for n in (1, 2, 3))
    return (
        Transform(f"{routed}.*.*", f"{odd}.{first}.{second}"),
        Transform(
            f"{routed}.*.*.*", f"ev.{partition}.in.{first}.sensor.{second}.{third}"
        ),
        Transform(f"{routed}.*.*.*.>", f"{odd}.{first}.{second}.{third}.>"),
    )


_UNROUTED = tuple(
    Transform(
        each.source, each.target.replace(f"{{{{partition({PARTITIONS},1)}}}}", "0")
    )
    for each in SENSOR_TRANSFORMS
)
"""As in an `IN` that is not routed, but all into partition 0, which the stream surely has."""
