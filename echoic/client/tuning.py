"""Tuning: a search for better settings over named recordings.

Learning settings are judged by how well confidences predicted outcomes, a strategy's
parameters by the estimated value of its decisions; never both at once, since the scores
cannot be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from echoic.client.evidence import evidence_of, verified_recordings
from echoic.config.load import Settings
from echoic.errors import EchoicError
from evaluation.tuning.policy_value import Limits, WorthObjective
from evaluation.tuning.predictive_skill import SkillObjective
from evaluation.tuning.search import Objective, Proposer, Search, Values
from evaluation.tuning.search import search as searched
from evaluation.tuning.search_space import (
    GRID_LIMIT,
    Grid,
    Range,
    RangeError,
    Tpe,
    parse_range,
)
from handlers.mind.strategies import registry
from replay.recording.outcomes import OutcomeSettings
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings_by_name import (
    ANY_PARAMETER,
    LEARNING,
    STRATEGY_PREFIX,
    learning_value,
    learning_with,
    parameter_in,
    unknown,
)

# Names of the objectives in reports: Brier skill of predictions made before each outcome
# (prequential), and the doubly robust estimate of the share of successes.
_SKILL = "prequential Brier skill"
_WORTH = "success, doubly robust"

_Ranges = Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class Task:
    """The objective of a search, and the values in force."""

    objective: Objective
    name: str
    current: Values
    silence: float | None = None
    """What silence counts; None where it does not count at all."""


def ranges_of(texts: Sequence[str]) -> dict[str, Range]:
    """Return the ranges to search, parsed from texts such as `learning.gamma=0.9..1`.

    Raises:
        EchoicError: one names no setting or no range, or they do not go together.
    """
    found: dict[str, Range] = {}
    for text in texts:
        name, _, range_ = text.partition("=")
        if name not in LEARNING and not name.startswith(STRATEGY_PREFIX):
            raise EchoicError(str(unknown(name, ANY_PARAMETER)))
        try:
            found[name] = parse_range(range_, is_real=name in LEARNING)
        except RangeError as error:
            raise EchoicError(f"{name}: {error}") from error
    if not found:
        raise EchoicError(
            "nothing is to be searched", next_step="echoic tune learning.gamma=0.9..1"
        )
    # Some, but not all of them.
    if 0 < sum(name in LEARNING for name in found) < len(found):
        raise EchoicError(
            "learning settings and a strategy's parameters are judged differently:"
            " search them one after the other"
        )
    return found


async def tuned(
    settings: Settings,
    ranges: _Ranges,
    names: Sequence[str],
    limits: Limits,
    trials: tuple[int, int],
    *,
    silence: float | None = None,
) -> tuple[Task, Search]:
    """Search over the named recordings.

    `trials` is the number of trials and the seed of a search too wide for a grid.
    `silence` is what silence counts in [0, 1]; None: as everywhere.

    Raises:
        EchoicError: a recording cannot be read or trusted.
        TuningError, UnknownStrategyError: a setting cannot have such a value.
        TooFewSessionsError: there is nothing to judge by.
        MissingOptunaError: a wide search needs what is not installed.
    """
    if all(name in LEARNING for name in ranges):
        if silence is not None:
            raise EchoicError(
                "--silence: learning settings are judged by predictions of what was"
                " answered, in which silence does not count",
                next_step="leave --silence out",
            )
        # First, as reading the recordings takes long.
        _check_learning(ranges)
        task = await _learning_task(settings, ranges, names)
        return task, await _run(task, ranges, trials)
    outcome = OutcomeSettings()
    if silence is not None:
        outcome = replace(outcome, silence=silence)
    async with verified_recordings(settings, names, outcome) as checked:
        task = _strategy_task(WorthObjective(checked, limits), ranges)
        task = replace(task, silence=outcome.silence)
        return task, await _run(task, ranges, trials)


async def _run(task: Task, ranges: _Ranges, trials: tuple[int, int]) -> Search:
    proposer = _proposer(ranges, task, trials)
    return await searched(task.objective, proposer, task.current)


def _check_learning(ranges: _Ranges) -> None:
    for name in ranges:
        for value in ranges[name].points:
            learning_with(LearningSettings(), {name: value})


async def _learning_task(
    settings: Settings, ranges: _Ranges, names: Sequence[str]
) -> Task:
    evidence = await evidence_of(settings, names)
    # The settings of the newest session are those in force.
    latest = max(evidence, key=lambda each: each.began_ns)
    current = {name: learning_value(latest.learning, name) for name in ranges}
    return Task(SkillObjective(evidence), _SKILL, current)


def _strategy_task(objective: WorthObjective, ranges: _Ranges) -> Task:
    in_force = objective.in_force
    strategy = registry.create_decision_strategy(objective.spec, in_force.settings)
    found = {name: parameter_in(strategy.config, name) for name in ranges}
    current = {name: value for name, value in found.items() if value is not None}
    return Task(objective, _WORTH, current)


def _proposer(ranges: _Ranges, task: Task, trials: tuple[int, int]) -> Proposer:
    # A grid is exhaustive, but grows with a power of the number of ranges.
    if len(ranges) <= GRID_LIMIT:
        return Grid(ranges)
    return Tpe(ranges, task.current, *trials)
