"""Turns as a worker tells of them, made of the samples of tracing."""

from collections.abc import Mapping

from echoic.metrics.meter import Meter
from echoic.metrics.reports import samples_of
from echoic.tracing.observe import Answered
from handlers.mind.turn import Turn
from handlers.worker.listening import Timed
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
)
from schemas.state.agent import PartitionState
from tests.echoic.tracing.samples import (
    completed,
    decided,
    deferred,
    delivery_asked,
    dropped,
    feedback,
    model_asked,
    outcome,
    result,
    sensed,
    silent,
)


def timed(seen: Answered, state: PartitionState | None = None) -> Timed:
    """What the worker tells its listeners of an answered input."""
    return Turn(seen.input, seen.outputs, state or PartitionState()), seen.times


def a_bit_of_everything() -> list[Timed]:
    """An answer, two silences, a model that answers and one that fails, a vote, an outcome."""
    answer = ModelAnswered(
        ask_id="a1",
        request_hash="beef",
        model="tiny-1",
        text="West.",
        input_tokens=30,
        output_tokens=9,
        cost_usd=0.002,
        latency_ms=800.0,
    )
    failed = ModelFailed(ask_id="a2", request_hash="beef", reason="timeout")
    delivered = Delivered(ask_id="o1", channel="console")
    undelivered = DeliveryFailed(ask_id="o2", channel="console", reason="expired")
    seen = (
        sensed(("d1", decided()), ("o1", delivery_asked("d1"))),
        sensed(("d2", silent())),
        sensed(("d3", silent("error", path="none"))),
        sensed(("d4", deferred()), ("a1", model_asked("d4")), ("x", outcome("d1"))),
        sensed(("d5", deferred()), ("a2", model_asked("d5"))),
        result(answer, ("c4", completed("d4")), ms=800),
        result(failed, ("c5", dropped("d5")), ms=900),
        result(delivered, ms=20),
        result(undelivered, ms=30),
        feedback("d1"),
    )
    return [timed(each) for each in seen]


def values(meter: Meter) -> Mapping[tuple[str, ...], float]:
    """What a meter counted: by name and label values, in the order of the labels."""
    return {
        (name, *labels.values()): value
        for _, name, labels, value in samples_of(meter)
        if value
    }
