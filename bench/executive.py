"""CPU time of the mind with the executive and without: `python -m bench.executive`.

Both lives answer the same events by the settings of a new instance, one without those of the
executive. Batches take turns, and so does which of the two is first, so that a drift of the
machine cancels out. A figure is microseconds of CPU an event, the 20th percentile of the
batches; the ratio is the median of the pairs. Events come a second apart by the log's clock:
in a burst cooldowns would have most answers not made at all.
"""

import argparse
import asyncio
import json
import statistics

from bench import wording, world
from bench.mind import Life, percentile_20
from bench.worker import plain
from echoic.config.load import defaults, mind_settings
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.worker.loop import INPUTS_AT_ONCE
from schemas.values.settings import MatchLimits, MindSettings

EVENTS = 6_144
STEP_NS = 1_000_000_000
ANSWERS_WORDED = 20_000


async def measured(
    events: int = EVENTS, answers: int = ANSWERS_WORDED
) -> dict[str, float]:
    """Return the cost of an event with and without, and that of one answer's wording."""
    told = [event.wire for event in world.events(events)]
    on = _settings()
    lives = [
        Life(each, STEP_NS)
        for each in (on.model_copy(update={"executive": plain()}), on)
    ]
    for each in lives:
        await each.begin()
    spent: list[list[float]] = [[], []]
    for number, start in enumerate(range(0, events, INPUTS_AT_ONCE)):
        batch = told[start : start + INPUTS_AT_ONCE]
        for which in (0, 1) if number % 2 else (1, 0):
            spent[which].append(sum((await lives[which].answer(batch)).values()))
    # The first fill caches, and a short last one is none.
    whole = slice(2, events // INPUTS_AT_ONCE)
    off_us, on_us = (each[whole] for each in spent)
    worded = wording.costs(answers)
    return {
        "off_us": round(percentile_20(off_us), 1),
        "on_us": round(percentile_20(on_us), 1),
        "ratio": round(
            statistics.median(b / a for a, b in zip(off_us, on_us, strict=True)), 3
        ),
        "wording_us": worded["median_us"],
        "wording_p95_us": worded["p95_us"],
    }


def _settings() -> MindSettings:
    """Return what a new instance runs with, but for the limit of its sensors."""
    made_by = embedder("wordllama")
    limits = MatchLimits(
        match=made_by.limits.match,
        duplicate=made_by.limits.duplicate,
        endorse=made_by.limits.endorse,
    )
    return mind_settings(defaults(), limits).model_copy(update={"intake": None})


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.executive")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--answers", type=int, default=ANSWERS_WORDED)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measured(given.events, given.answers)), indent=2))


if __name__ == "__main__":
    main()
