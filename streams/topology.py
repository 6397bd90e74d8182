"""The streams as data: what the log, the intake streams and the object stores must look like.

Nothing here talks to a broker; `streams.jetstream.migrate` creates the streams. Every field
of a stream is named, so that one changed by hand shows as drift.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from schemas.values.subjects import PARTITIONS, SHARED_AGENT, partition_of

LOG_SUBJECTS = "ev.>"
SENSOR_SUBJECTS = "in.>"
BOX_SUBJECTS = "ip.>"
REFUSED_SUBJECTS = "over.>"
DELIVERY_SUBJECTS = "out.>"

EPOCH_KEY = "epoch"
"""The metadata key of `LOG` under which the random UUID drawn at its creation is stored."""

UNFINISHED = "restoring"
"""The metadata key of `LOG` while it is being put back from a backup; it is not started."""

DUPLICATE_WINDOW_S = 0.1
"""Seconds; the smallest that the server accepts, none being for a stream that sources alone,
as the log does while its intake is open. Nothing relies on it: the state that folds the log
refuses a repeated ce-id."""

BLOB_BUCKET = "BLOBS"

BATCH_LIMIT = 1000
"""How many messages the server accepts in one atomic batch (its own limit)."""

NANOSECONDS = 1_000_000_000
"""In a second: the server's API counts durations in them."""


@dataclass(frozen=True, slots=True)
class Transform:
    """How the subjects of another stream's messages are mapped when they are sourced."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """One stream, by what distinguishes it from the others."""

    name: str
    subjects: tuple[str, ...]
    description: str
    max_age_s: int = 0
    """Seconds; 0 keeps messages for ever."""
    immutable: bool = False
    """No message can be deleted and no purge run, by anybody."""
    atomic: bool = False
    """Accepts atomic batches; never true for a stream that sensors can publish to."""
    compressed: bool = False
    direct: bool = False
    """Any replica may serve reads, so they may lag; `streams.groups` allows for that."""
    rollup: bool = False
    """Lets a message replace the older ones of its subject, as object stores do."""
    max_message_bytes: int = -1
    """Headers and body; -1 leaves it to the server's limit of 1 MB."""
    max_bytes: int = -1
    """Of all its messages; those of `BOUNDED` are set by the instance (`streams.bounds`)."""
    renames: Transform | None = None
    """How subjects are mapped when a message is stored in it."""
    sourced_from: str | None = None
    transforms: tuple[Transform, ...] = ()
    has_epoch: bool = False
    keyed: bool = False
    """Keeps the last message of each subject alone, as a bucket of keys does."""


_PARTITION = f"{{{{partition({PARTITIONS},1)}}}}"
"""The server's own hash of an agent, equal to `schemas.values.subjects.partition_of`."""


def _odd(tokens: int, *, more: bool = False) -> Transform:
    """Return the transform of a subject outside the grammar of `in.<agent>.<source>.<type>`.

    It goes to the shared agent, in the partition of its first token, and the mind
    quarantines it: nothing that was acknowledged disappears.
    """
    kept = ".".join(f"{{{{wildcard({n})}}}}" for n in range(1, tokens + 1))
    tail = ".>" if more else ""
    return Transform(
        source="in" + ".*" * tokens + tail,
        target=f"ev.{_PARTITION}.in.{SHARED_AGENT}.sensor.{kept}{tail}",
    )


SENSOR_TRANSFORMS = (
    _odd(1),
    _odd(2),
    Transform(
        source="in.*.*.*",
        target=f"ev.{_PARTITION}.in.{{{{wildcard(1)}}}}.sensor"
        ".{{wildcard(2)}}.{{wildcard(3)}}",
    ),
    _odd(3, more=True),
)
"""By count of tokens: 2, 3, 4, and 5 or more; together they match every `in.>`. The last is
`in.*.*.*.>`, since `>` stands for at least one token."""

SENSOR_MESSAGE_BYTES = 60_000
"""The most bytes of a sensor's message, headers and body. Sourcing adds a header that names
the original subject; a message whose headers then exceed the server's 64 KiB would block
the sourcing of everything behind it for ever. 60,000 leaves room for that header."""

_IN_DAYS = 7
"""Days that intake streams keep messages, whether `LOG` has sourced them or not."""

BOX_WINDOW = 64
"""How many messages of one intake stream are sourced before other boxes have their turn
(`max_ack_pending`). Without it the server delivers megabytes of one box at a time, and a
flood of one sensor delays all others (ADR 0020)."""


def box_subject(agent: str, source: str) -> str:
    """Return the subject on which a sensor's messages reach the intake stream of its agent's
    partition."""
    return f"ip.{partition_of(agent)}.{agent}.{source}.*"


def _box(partition: int) -> StreamSpec:
    return StreamSpec(
        name=f"IN_{partition}",
        # Part of the stream's configuration: another text would be drift in an old folder.
        description=f"The letter box of the sensors of partition {partition}.",
        subjects=(f"ip.{partition}.>",),
        max_age_s=_IN_DAYS * 24 * 3600,
        max_message_bytes=SENSOR_MESSAGE_BYTES,
        renames=Transform(
            source=f"ip.{partition}.*.*.*",
            target=f"ev.{partition}.in.{{{{wildcard(1)}}}}.sensor"
            ".{{wildcard(2)}}.{{wildcard(3)}}",
        ),
    )


BOXES = tuple(_box(partition) for partition in range(PARTITIONS))
"""One intake stream for each partition. Each is a stream with its own file and sync, so that a
flood in one does not delay the acknowledgements of another."""


def refused_subject(agent: str, source: str) -> str:
    """Return where the messages of a sensor go that is over its bounds: to `OVER_QUOTA`."""
    return f"over.{agent}.{source}.*"


OVER_QUOTA = StreamSpec(
    name="OVER_QUOTA",
    description="Refuses whatever a sensor sends that is over its bounds.",
    subjects=(REFUSED_SUBJECTS,),
    # No message fits: the server answers each with an error that names this stream.
    max_bytes=1,
)

LOG = StreamSpec(
    name="LOG",
    description="The one authority: every input and every output, in one order.",
    subjects=(LOG_SUBJECTS,),
    immutable=True,
    atomic=True,
    compressed=True,
    direct=True,
    sourced_from="IN",
    transforms=SENSOR_TRANSFORMS,
    has_epoch=True,
)
IN = StreamSpec(
    name="IN",
    description="The letter box of whoever has no account of a sensor.",
    subjects=(SENSOR_SUBJECTS,),
    max_age_s=_IN_DAYS * 24 * 3600,
    max_message_bytes=SENSOR_MESSAGE_BYTES,
)
BLOBS = StreamSpec(
    name="OBJ_BLOBS",
    description="The object store BLOBS: packs, by sha256 of their bytes.",
    subjects=("$O.BLOBS.C.>", "$O.BLOBS.M.>"),
    rollup=True,
    direct=True,
)
CHECKPOINTS = StreamSpec(
    name="OBJ_CHECKPOINTS",
    description="The object store CHECKPOINTS: the newest state of each partition.",
    subjects=("$O.CHECKPOINTS.C.>", "$O.CHECKPOINTS.M.>"),
    rollup=True,
    direct=True,
)
STREAMS = (IN, *BOXES, OVER_QUOTA, LOG, BLOBS, CHECKPOINTS)
"""In order of creation: a stream exists before the one that sources it."""

BOUNDED = frozenset({IN.name, *(box.name for box in BOXES)})
"""The intake streams, whose `max_bytes` the instance sets while it runs."""

OWNERS = StreamSpec(
    name="KV_OWNERS",
    description="The bucket OWNERS: who is in charge of which range of partitions.",
    subjects=("$KV.OWNERS.>",),
    rollup=True,
    direct=True,
    keyed=True,
)
"""Made by the first instance that others may join, and by no other (ADR 0082)."""

KEYS = StreamSpec(
    name="KV_KEYS",
    description="The keys of a sealed log; never copied.",
    subjects=("$KV.KEYS.>",),
    keyed=True,
)
SEALED_KEY = "sealed"
"""The metadata key of `LOG` that says `true` if personal fields are sealed in it."""

_SEALED_IN_S = 3600
"""Seconds that the intake streams of a sealed log keep a message that nobody takes."""


def sealed(spec: StreamSpec) -> StreamSpec:
    """Return a stream as it is beside a sealed log, which sources nothing.

    An intake process takes what sensors send, seals and appends it.
    """
    if spec is LOG:
        return replace(spec, sourced_from=None, transforms=())
    return replace(spec, max_age_s=_SEALED_IN_S) if spec in (IN, *BOXES) else spec


def configuration(spec: StreamSpec, replicas: int = 1) -> dict[str, object]:
    """Return the stream's configuration as the JetStream API takes it, without the epoch."""
    config: dict[str, object] = {
        "name": spec.name,
        "description": spec.description,
        "subjects": list(spec.subjects),
        "retention": "limits",
        "storage": "file",
        # A full log refuses new messages; the default would delete the oldest.
        "discard": "new",
        "num_replicas": replicas,
        "max_consumers": -1,
        "max_msgs": -1,
        "max_bytes": spec.max_bytes,
        "max_msgs_per_subject": 1 if spec.keyed else -1,
        "max_msg_size": spec.max_message_bytes,
        "max_age": spec.max_age_s * NANOSECONDS,
        "duplicate_window": int(DUPLICATE_WINDOW_S * NANOSECONDS),
        # A node of a cluster that was killed cuts its copy back, and nats-server 2.15.1
        # damages a compressed block that it cuts: that copy is never whole again.
        "compression": "s2" if spec.compressed and replicas == 1 else "none",
        "deny_delete": spec.immutable,
        "deny_purge": spec.immutable,
        "allow_rollup_hdrs": spec.rollup,
        "allow_direct": spec.direct,
        "allow_atomic": spec.atomic,
    }
    if spec.keyed:
        # A key that was given up is kept for an hour, not for ever.
        config["allow_msg_ttl"] = True
    # The sources of a box name a durable consumer of our own, since only there can the
    # number of messages under way be bounded.
    if spec.sourced_from is not None:
        own = source(spec.sourced_from, spec.transforms)
        config["sources"] = [own, *map(source_of_box, BOXES)]
    if spec.renames is not None:
        renames = {"src": spec.renames.source, "dest": spec.renames.target}
        config["subject_transform"] = renames
    return config


def box_consumer(box: StreamSpec, stream: str = LOG.name) -> dict[str, object]:
    """Return the durable consumer by which a stream of the log sources an intake stream.

    At most `BOX_WINDOW` messages are under way at once.
    """
    return {
        "name": stream,
        "durable_name": stream,
        "deliver_subject": _delivered(box, stream),
        "deliver_policy": "all",
        "replay_policy": "instant",
        "ack_policy": "flow_control",
        "flow_control": True,
        "idle_heartbeat": NANOSECONDS,
        "max_ack_pending": BOX_WINDOW,
    }


def source_of_box(box: StreamSpec, stream: str = LOG.name) -> dict[str, object]:
    """Return an intake stream as a source of a stream of the log."""
    consumer = {"name": stream, "deliver_subject": _delivered(box, stream)}
    return {"name": box.name, "consumer": consumer}


def _delivered(box: StreamSpec, stream: str) -> str:
    segment = "" if stream == LOG.name else f".{stream}"
    return f"_taken.{box.name}{segment}"


def differences(
    expected: Mapping[str, object], live: Mapping[str, object]
) -> tuple[tuple[str, object, object], ...]:
    """Return every field that differs, as (field, live value, expected value), by name.

    A field that one side leaves out counts as off, since the server omits many defaults.
    Replicas and placement are for the operator to choose, and a description may be that of
    an older version of the program: they are not compared. No compression is always good: it
    costs but room.
    """
    found = []
    for field in sorted((expected.keys() | live.keys()) - _FREE):
        ours, theirs = expected.get(field), live.get(field)
        if field == "compression" and theirs == "none":
            continue
        # `or None` makes 0, False, "" and [] equal to a field that is left out.
        if (ours or None) != (theirs or None):
            found.append((field, theirs, ours))
    return tuple(found)


def source(stream: str, transforms: tuple[Transform, ...]) -> dict[str, object]:
    """Return a stream as a source, with how its subjects are mapped."""
    renamed = [{"src": each.source, "dest": each.target} for each in transforms]
    return {"name": stream, "subject_transforms": renamed}


_FREE = {"num_replicas", "placement", "metadata", "description"}
