"""Measure what counting for the metrics costs a worker: `python -m bench.metering`.

CPU microseconds an input, of batches in memory as the worker tells of them: one write of
192 inputs, the recorded mix of one answer in seven. The median of many rounds.
"""

from collections import deque
from collections.abc import Callable
from statistics import median
from time import process_time_ns

from echoic.metrics.meter import Meter
from echoic.metrics.reports import samples_of
from handlers.mind.turn import Turn
from handlers.worker.listening import Timed
from schemas.state.agent import PartitionState
from tests.echoic.tracing import samples

INPUTS = 192
ROUNDS = 300


def batch() -> list[Timed]:
    """Return one write of the worker: mostly silence, and an answer with its delivery."""
    silent = samples.sensed(("d1", samples.silent()))
    spoken = samples.sensed(
        ("d2", samples.decided()), ("o2", samples.delivery_asked("d2"))
    )
    seen = [silent if number % 7 else spoken for number in range(INPUTS)]
    state = PartitionState()
    return [(Turn(each.input, each.outputs, state), each.times) for each in seen]


def measured() -> dict[str, float]:
    """Return CPU µs an input, in batches and one by one, and of one look at everything."""
    made, meter = batch(), Meter()
    singles = [[each] for each in made]
    return {
        "batch_us": _each(lambda: meter.observe(made)),
        "single_us": _each(lambda: deque(map(meter.observe, singles), 0)),
        "look_us": _each(lambda: samples_of(meter)) * INPUTS,
    }


def _each(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        begun = process_time_ns()
        work()
        times.append(process_time_ns() - begun)
    return round(median(times) / 1e3 / INPUTS, 2)


if __name__ == "__main__":
    print(measured())
