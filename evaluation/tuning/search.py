"""Search for settings on earlier sessions and judge the best of them once on later ones.

The best of many looks better than it is (the winner's curse). So the finalists are judged
on held-out sessions that the search never saw, once, with Holm's adjustment over them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, TypeGuard

from evaluation.ope.significance import holm
from schemas.values.base import Scalar

_SEARCH_SHARE = 0.6
"""The share of sessions, in order of time, that the search uses; the rest is held out."""
_FINALISTS = 3
"""Choices judged on the held-out sessions: each more costs power, by Holm's adjustment."""
_ALPHA = 0.05
"""The adjusted p-value up to which a finalist is recommended."""
_LEAST_SESSIONS = 5
"""Three to search and two to judge by: an error clustered by session takes two."""

Values: TypeAlias = Mapping[str, Scalar]
"""A choice of settings, by name."""


class TooFewSessionsError(ValueError):
    """There is nothing left to judge by what a search would find."""


@dataclass(frozen=True, slots=True)
class Gain:
    """The estimated gain of a choice over the settings in force, in the objective's unit."""

    value: float
    se: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    sessions: int
    is_clear: bool = True
    """Whether whoever judged it would call it better, besides its p-value."""
    notes: tuple[str, ...] = ()
    """Caveats, in words."""

    @property
    def lower(self) -> float:
        """The gain less one standard error, so that a search does not chase noise."""
        return self.value - (self.se or 0.0)


@dataclass(frozen=True, slots=True)
class Refused:
    """A choice that must not be made, or of which nothing can be said."""

    reason: str
    detail: str


Evaluation: TypeAlias = Gain | Refused


class Objective(Protocol):
    """What is to be made better."""

    @property
    def sessions(self) -> int:
        """How many sessions there are, in the order of time."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The sessions' names, in the order of time."""
        ...

    async def gains(
        self, choices: Sequence[Values], sessions: range
    ) -> Sequence[Evaluation]:
        """Return how much better each choice is over these sessions."""
        ...

    def worth(self, gain: Gain) -> float:
        """Return what the search goes by."""
        ...


class Proposer(Protocol):
    """Where choices come from."""

    def ask(self) -> Sequence[Values]:
        """Return the next choices to try; none: the search is over."""
        ...

    def tell(self, choice: Values, worth: float | None) -> None:
        """Learn what a choice was worth; None if it was refused."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """One choice of the search."""

    values: Values
    search: Evaluation
    holdout: Evaluation | None = None
    """Of a finalist alone."""
    adjusted_p: float | None = None
    is_recommended: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """What was tried, and what came of it."""

    searched: tuple[str, ...]
    """The names of the earlier sessions."""
    held_out: tuple[str, ...]
    trials: tuple[Trial, ...]
    """Finalists first, the best of the search before the others; then the refused."""

    @property
    def finalists(self) -> tuple[Trial, ...]:
        """The choices that met the later sessions."""
        return tuple(each for each in self.trials if each.holdout is not None)

    @property
    def refused(self) -> tuple[Trial, ...]:
        """The choices that were not to be made."""
        return tuple(each for each in self.trials if isinstance(each.search, Refused))

    @property
    def recommended(self) -> Trial | None:
        """The best of those that held on the later sessions."""
        return next((each for each in self.trials if each.is_recommended), None)


async def search(
    objective: Objective, proposer: Proposer, current: Values | None = None
) -> Search:
    """Try the proposed choices on the earlier sessions and judge the best on the later.

    Of choices that do equally well the one nearest to `current` ranks first.

    Raises:
        TooFewSessionsError: there are not enough sessions to do both.
    """
    count = objective.sessions
    if count < _LEAST_SESSIONS:
        raise TooFewSessionsError(
            f"too few sessions tell something: {count}; give at least {_LEAST_SESSIONS},"
            " for what is found on the earlier ones is judged on the later"
        )
    # By time and not at random: what is found has to hold on what comes later.
    cut = min(round(count * _SEARCH_SHARE), count - 2)
    trials = await _tried(objective, proposer, range(cut))
    # Ties are common: many settings decide every recorded event alike. The one nearest to
    # what is in force changes least.
    far = _distances(trials, current or {})
    order = sorted(
        range(len(trials)),
        key=lambda each: (-_worth(objective, trials[each]), far[each]),
    )
    ranked = [trials[each] for each in order]
    best = _best(objective, ranked)
    judged = await _judged(objective, best, range(cut, count))
    return Search(
        searched=tuple(objective.names[:cut]),
        held_out=tuple(objective.names[cut:]),
        trials=(*judged, *(each for each in ranked if each not in best)),
    )


async def _tried(
    objective: Objective, proposer: Proposer, earlier: range
) -> list[Trial]:
    tried: dict[tuple[tuple[str, Scalar], ...], Evaluation] = {}
    while choices := proposer.ask():
        # A proposer may repeat itself; an evaluation reads all recordings, so each choice
        # has one, and the proposer still hears of every repetition.
        fresh = list({_key(each): each for each in choices}.values())
        fresh = [each for each in fresh if _key(each) not in tried]
        found = await objective.gains(fresh, earlier)
        tried.update(
            (_key(choice), evaluation)
            for choice, evaluation in zip(fresh, found, strict=True)
        )
        for choice in choices:
            trial = Trial(choice, tried[_key(choice)])
            worth = _worth(objective, trial)
            proposer.tell(choice, None if isinstance(trial.search, Refused) else worth)
    return [Trial(dict(key), evaluation) for key, evaluation in tried.items()]


def _best(objective: Objective, ranked: Sequence[Trial]) -> list[Trial]:
    """Return the finalists: the first few with a gain, each unlike the ones before it.

    Choices with the same gain in every figure decide alike, so one of them is enough.
    """
    best: list[Trial] = []
    for trial in ranked:
        is_new = all(trial.search != each.search for each in best)
        if _worth(objective, trial) > 0.0 and is_new and len(best) < _FINALISTS:
            best.append(trial)
    return best


def _distances(trials: Sequence[Trial], current: Values) -> list[float]:
    """Return each choice's distance from the settings in force, summed over settings.

    A number's distance is a share of the span of values tried; other values differ by 1.
    """
    far = [0.0] * len(trials)
    for name in sorted(current):
        tried = [each.values.get(name) for each in trials]
        numbers = [each for each in (*tried, current[name]) if _is_number(each)]
        span = max(numbers, default=0.0) - min(numbers, default=0.0)
        for place, value in enumerate(tried):
            far[place] += _apart(value, current[name], span)
    return far


def _apart(value: Scalar | None, current: Scalar, span: float) -> float:
    if _is_number(value) and _is_number(current):
        return abs(value - current) / span if span else 0.0
    return float(value != current)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


async def _judged(
    objective: Objective, best: Sequence[Trial], later: range
) -> list[Trial]:
    if not best:
        return []
    found = await objective.gains([each.values for each in best], later)
    adjusted = holm(
        {
            str(place): each.p_value if isinstance(each, Gain) else None
            for place, each in enumerate(found)
        }
    )
    return [
        replace(
            trial,
            holdout=evaluation,
            adjusted_p=adjusted[str(place)],
            is_recommended=_holds(evaluation, adjusted[str(place)]),
        )
        for place, (trial, evaluation) in enumerate(zip(best, found, strict=True))
    ]


def _holds(evaluation: Evaluation, adjusted: float | None) -> bool:
    if isinstance(evaluation, Refused) or adjusted is None:
        return False
    return evaluation.value > 0.0 and evaluation.is_clear and adjusted <= _ALPHA


def _worth(objective: Objective, trial: Trial) -> float:
    # Refused choices sort after all others and can never be finalists.
    if isinstance(trial.search, Refused):
        return float("-inf")
    return objective.worth(trial.search)


def _key(values: Values) -> tuple[tuple[str, Scalar], ...]:
    return tuple((name, values[name]) for name in sorted(values))
