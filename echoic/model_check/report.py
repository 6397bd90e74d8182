"""What a check came to: shares, times, tokens and cost, and what failed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from echoic.model_check.run import Asked
from schemas.messages.results import ModelAnswered

SEED_USD = 0.02
"""An hour of game time, with gpt-4o-mini asked every 30 s (source design, "Tier 1")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A prompt whose answer is of no use, or not all of it."""

    situation: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a model; what nothing is known of is None."""

    model: str
    """As it calls itself; as it was asked for, if nothing answered."""
    prompts: int
    answered: int
    json: int
    """How many replies held a JSON object."""
    bare_json: int
    """How many were nothing else."""
    valid_actions: int
    """How many replies could be understood, with an action that was offered or none."""
    actions: int
    """How many named an action."""
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    input_tokens: float | None
    """Of a call, as their mean; so are the next."""
    output_tokens: float | None
    calls_an_hour: float
    """Of a sociable character, in game time."""
    usd_an_hour: float | None
    """None if the model has no known price."""
    failures: tuple[_Failure, ...]

    @property
    def json_share(self) -> float:
        """The share of prompts that were answered with JSON."""
        return self.json / self.prompts

    @property
    def action_share(self) -> float:
        """The share of prompts that were answered with something that can be done."""
        return self.valid_actions / self.prompts


def report(name: str, asked: Sequence[Asked], calls_an_hour: float) -> Report:
    """Return what a check came to; at least one prompt was asked."""
    verdicts = [each.verdict for each in asked if each.verdict is not None]
    answers = [each.result for each in asked if isinstance(each.result, ModelAnswered)]
    times = sorted(each.latency_ms for each in answers if each.latency_ms is not None)
    usd = _mean([each.cost_usd for each in answers])
    return Report(
        model=answers[-1].model if answers else name,
        prompts=len(asked),
        answered=len(answers),
        json=sum(each.is_json for each in verdicts),
        bare_json=sum(each.is_bare for each in verdicts),
        valid_actions=sum(each.is_valid for each in verdicts),
        actions=sum(each.names_action for each in verdicts),
        latency_p50_ms=_nearest_rank(times, 0.50),
        latency_p95_ms=_nearest_rank(times, 0.95),
        input_tokens=_mean([each.input_tokens for each in answers]),
        output_tokens=_mean([each.output_tokens for each in answers]),
        calls_an_hour=calls_an_hour,
        usd_an_hour=None if usd is None else usd * calls_an_hour,
        failures=tuple(
            _Failure(situation=each.prompt.situation, why=why)
            for each in asked
            if (why := each.problem) is not None
        ),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fmean(known) if known else None


def _nearest_rank(ordered: Sequence[float], share: float) -> float | None:
    """Return a time that really occurred, which so many do not exceed; None of none."""
    if not ordered:
        return None
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
