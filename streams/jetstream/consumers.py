"""The durable consumers of the effects as data, and the one step that creates them.

Only asks are consumed with acknowledgements: they may be performed out of order and must
survive a crash. Whatever needs an order reads by sequence instead, since a durable consumer
redelivers out of order.
"""

from dataclasses import dataclass

from nats.aio.client import Client

from streams.jetstream.connection import insist
from streams.jetstream.registry import load
from streams.topology import NANOSECONDS


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """One durable pull consumer of the log."""

    durable: str
    subjects: str
    patience_s: int = 10
    """Seconds without an acknowledgement or progress after which the broker redelivers."""
    at_once: int = 2_048
    """How many are delivered and unacknowledged at most (`max_ack_pending`). The effects
    keep all of them alive, so that none is redelivered for being too many, and an urgent
    ask waits behind so many at most."""


MODEL_ASKS = ConsumerSpec("effects-model", "ev.*.out.*.ask.model_asked")
DELIVERY_ASKS = ConsumerSpec("effects-delivery", "ev.*.out.*.ask.delivery_asked")
STOP_ASKS = ConsumerSpec("effects-stop", "ev.*.out.*.ask.stop_asked")
RECALL_ASKS = ConsumerSpec("effects-recall", "ev.*.out.*.ask.recall_asked")
TURN_ASKS = ConsumerSpec("effects-turn", "ev.*.out.*.ask.turn_asked")
CONSUMERS = (MODEL_ASKS, DELIVERY_ASKS, STOP_ASKS, RECALL_ASKS, TURN_ASKS)


async def prepare_consumers(client: Client) -> tuple[str, ...]:
    """Create the consumers that are missing and bring the others up to their spec.

    Return the streams that have asks, or may get some. A closed segment has none left once
    all of its own were acknowledged; one that is archived is not looked at.

    Raises:
        ApiError: one exists with a field that cannot be changed.
    """
    segments, _ = await load(client)
    looked_at = [each for each in segments.readable if each.state in ("open", "closed")]
    left = [await asks_left(client, each.stream) for each in looked_at]
    return tuple(
        each.stream
        for each, count in zip(looked_at, left, strict=True)
        if count or each.state == "open"
    )


async def asks_left(client: Client, stream: str) -> int:
    """Prepare the consumers of a stream; return how many asks are not performed yet."""
    left = 0
    for spec in CONSUMERS:
        subject = f"$JS.API.CONSUMER.CREATE.{stream}.{spec.durable}.{spec.subjects}"
        wanted = {"stream_name": stream, "config": configuration(spec)}
        info = await insist(client, subject, wanted)
        left += info["num_pending"] + info["num_ack_pending"]
    return left


def configuration(spec: ConsumerSpec) -> dict[str, object]:
    """Return the consumer's configuration as the broker's API takes it."""
    return {
        "name": spec.durable,
        "durable_name": spec.durable,
        "filter_subject": spec.subjects,
        "deliver_policy": "all",
        "ack_policy": "explicit",
        "ack_wait": spec.patience_s * NANOSECONDS,
        # An ask is redelivered without limit: the decision waits for its result.
        "max_deliver": -1,
        "max_ack_pending": spec.at_once,
        "replay_policy": "instant",
    }
