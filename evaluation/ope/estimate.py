"""Estimate two strategies from logged decisions: values, gates and verdict.

This is the entry of the package and the whole method in order. What the log does not
support gets bounds and no point estimate.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from evaluation.ope import gates
from evaluation.ope.carryover import carry_over, later
from evaluation.ope.columns import Columns, Odds, columns_of
from evaluation.ope.compared import Compared, Side, compare, filled
from evaluation.ope.estimators import mean, rarer_share
from evaluation.ope.flips import Contrast
from evaluation.ope.gates import Gate
from evaluation.ope.intervals import Interval, interval, plain_interval
from evaluation.ope.people import whom
from evaluation.ope.results import DifferenceEstimate, Estimate, PolicyEstimate
from evaluation.ope.rows import Observation
from evaluation.ope.settings import EstimationSettings, Limits, SelfReplay
from evaluation.ope.verdicts import (
    OVERLAP,
    SHORT_TERM,
    Evidence,
    Reason,
    Verdict,
    conclude,
    is_withheld,
    opposing,
)
from evaluation.ope.weight_diagnostics import uniform_z

_UNTOLD = Interval(None, None, None)
_ZERO = Interval(0.0, (0.0, 0.0), 1.0)


def estimate(
    observations: Iterable[Observation],
    settings: EstimationSettings | None = None,
    *,
    self_replay: SelfReplay | None = None,
    cassette_hit_rate: float | None = None,
    others: Sequence[float | None] = (),
) -> Estimate:
    """Estimate both strategies and their difference.

    `self_replay` and `cassette_hit_rate` (in [0, 1]) add a gate each, where they are known.
    `others` are the p-values of other targets compared on the same log, uncorrected: a
    claim that may be luck among that many is taken back (`Estimate.among`).

    Raises:
        ObservationError: a row cannot be true, a decision comes twice, or there is none.
    """
    found = estimate_of(
        columns_of(observations),
        settings or EstimationSettings(),
        self_replay=self_replay,
        cassette_hit_rate=cassette_hit_rate,
    )
    return found.among(others)


def estimate_of(
    columns: Columns,
    settings: EstimationSettings,
    *,
    self_replay: SelfReplay | None = None,
    cassette_hit_rate: float | None = None,
) -> Estimate:
    """Return the same estimate from rows that are laid out as columns already."""
    limits = settings.limits
    columns = replace(columns, are_units=settings.population == "alike")
    compared = compare(columns, limits.unsupported_mass_max)
    checks = [
        *_replay_gates(self_replay, cassette_hit_rate, limits),
        *_propensity_gates(compared, limits),
        *_overlap_gates(compared, limits),
        *_outcome_gates(compared, limits),
    ]
    # Last, since whether an untestable carry-over matters depends
    # on what the others refused.
    checks += _carry_over_gates(compared, checks)
    difference = _difference(compared, checks, settings)
    # The baseline's own value may be shown though the difference is withheld: it is what
    # was mostly played. A recording that is INVALID supports neither.
    is_invalid = difference.verdict == Verdict.INVALID
    lacks = is_invalid or _lacks(compared, compared.baseline, limits)
    # What unknown outcomes can do to the difference, they can do to either side.
    lacks = lacks or (
        difference.withheld and difference.verdict == Verdict.INCONCLUSIVE
    )
    return Estimate(
        target=_policy(compared, compared.target, settings, difference.withheld),
        baseline=_policy(compared, compared.baseline, settings, lacks),
        difference=difference,
    )


def _lacks(compared: Compared, side: Side, limits: Limits) -> bool:
    """Tell whether a side alone was played too seldom for its value to be shown."""
    values, ess = side.values, side.weights.ess
    own = _weight_gates(side, side, compared.columns.rows, limits)
    # Rows of weight 0 played an arm that this side never takes: they do not say
    # how rare its own outcomes are.
    rare = rarer_share(values.reward[values.weight > 0.0]) * ess
    return rare < limits.rare_outcomes or any(each.status == "refused" for each in own)


def _policy(
    compared: Compared, side: Side, settings: EstimationSettings, withheld: bool
) -> PolicyEstimate:
    columns, values, weights = compared.columns, side.values, side.weights
    shown = side.is_identified
    around = (
        interval(columns, values.psi, columns.known, settings.resamples)
        if shown
        else _UNTOLD
    ).clipped(0.0, 1.0)
    return PolicyEstimate(
        n=columns.rows,
        ips=values.ips if shown else None,
        snips=values.snips if shown else None,
        dr=_clipped(values.dr) if shown else None,
        dm=values.dm if shown else None,
        se=around.se,
        ci=around.ci,
        ess=weights.ess,
        max_weight=weights.max_weight,
        max_weight_share=weights.max_share,
        mean_weight=weights.mean_weight,
        unsupported_mass=weights.unsupported_mass,
        bounds=value_bounds(columns, side.odds),
        withheld=withheld or not shown,
    )


def _difference(
    compared: Compared, checks: list[Gate], settings: EstimationSettings
) -> DifferenceEstimate:
    shown = compared.is_identified
    margin = settings.margin(compared.base_rate)
    known = _around(compared, settings.resamples) if shown else _UNTOLD
    if shown and compared.has_flips:
        # Without flips both estimators give exactly 0, so they cannot disagree.
        checks = [*checks, *_agreement_gates(compared, known, settings.limits, margin)]
    filled, mass = _filled(compared, settings), compared.guessed_mass
    around = known.widened(filled, mass).clipped(-1.0, 1.0)
    bounds = difference_bounds(compared.columns, compared.contrast)
    evidence = Evidence(
        gates=checks,
        rows=compared.columns.rows,
        has_flips=compared.has_flips,
        doubly=known if shown else None,
        bounds=bounds,
        filled=filled,
        unseen=_unseen(known.widened(filled, 0.0), mass),
        notes=tuple(_notes(compared, known, is_filled=bool(filled))),
    )
    verdict, reasons = conclude(evidence, margin)
    at_once = compared.dr if shown else None
    opposed = opposing(verdict, at_once, later(compared.columns), margin)
    if opposed is not None:
        reasons = (*reasons, opposed)
    return DifferenceEstimate(
        ips=_difference_of(compared, compared.ips) if shown else None,
        snips=_difference_of(compared, compared.snips) if shown else None,
        dr=_difference_of(compared, _clipped(compared.dr, -1.0)) if shown else None,
        se=around.se,
        ci=around.ci,
        p_value=around.p_value,
        flip_share=compared.contrast.share,
        flip_observations=compared.target.flips.count,
        bounds=bounds,
        gates=tuple(checks),
        verdict=verdict,
        reasons=reasons,
        margin=margin,
        short_term_only=any(each.code == SHORT_TERM for each in reasons),
        withheld=not shown or is_withheld(verdict, reasons, checks),
        whom=whom(compared.columns.people, settings.population),
    )


def _difference_of(compared: Compared, found: float | None) -> float | None:
    """Return what was estimated, or exactly 0 where the two never differ."""
    return found if compared.has_flips else 0.0


def _clipped(value: float, least: float = 0.0) -> float:
    # DR may leave the range of possible values, since its weights are not bounded by 1.
    return min(max(value, least), 1.0)


def _around(compared: Compared, resamples: int) -> Interval:
    if not compared.has_flips:
        return _ZERO
    columns = compared.columns
    found = interval(columns, compared.paired, columns.known, resamples)
    return found.clipped(-1.0, 1.0)


def _filled(compared: Compared, settings: EstimationSettings) -> tuple[Interval, ...]:
    """Return the interval with unknown rewards against the target, then in its favour.

    Empty where no unknown reward lies at a flip.
    """
    columns, contrast = compared.columns, compared.contrast
    hides = ~columns.known & contrast.differs
    if not compared.is_identified or not hides.any():
        return ()
    limit = settings.limits.unsupported_mass_max
    # Filling both sides alike would prove nothing, since it is their difference
    # that is asked for (ADR 0024).
    worlds = (filled(columns, contrast, of_target=to) for to in (0.0, 1.0))
    return tuple(_around(compare(world, limit), settings.resamples) for world in worlds)


def _unseen(around: Interval, mass: float) -> tuple[Interval, ...]:
    """Return the interval shifted to both extremes of the reward model's guesses.

    Empty where every arm at a flip could have been played.
    """
    if mass == 0.0 or around.ci is None:
        return ()
    return around.moved(-mass), around.moved(mass)


def _replay_gates(
    self_replay: SelfReplay | None, hit_rate: float | None, limits: Limits
) -> Iterator[Gate]:
    if self_replay is not None:
        yield gates.self_replay(self_replay)
    if hit_rate is not None:
        yield gates.cassette(hit_rate, limits)


def _propensity_gates(compared: Compared, limits: Limits) -> Iterator[Gate]:
    for name, side in (("target", compared.target), ("baseline", compared.baseline)):
        found = side.weights
        yield gates.propensity(name, found.z, found.mean_weight, limits)
    # A third check, for wrong probabilities of arms that neither side would take.
    uniform = uniform_z(compared.columns)
    if uniform is not None:
        yield gates.propensity("uniform", uniform, None, limits)


def _overlap_gates(compared: Compared, limits: Limits) -> Iterator[Gate]:
    target, baseline = compared.target, compared.baseline
    share, flips = compared.contrast.share, (target.flips, baseline.flips)
    yield gates.flip_observations(*flips, share, limits)
    yield gates.flip_sessions(*flips, share, limits)
    if compared.columns.are_units:
        yield gates.people(*flips, share, limits)
    yield gates.rare_outcomes(*flips, share, limits)
    yield from _weight_gates(target, baseline, compared.columns.rows, limits)


def _weight_gates(
    target: Side, baseline: Side, rows: int, limits: Limits
) -> Iterator[Gate]:
    both = target.weights, baseline.weights
    yield gates.unsupported(*both, limits)
    yield gates.effective_size(*both, rows, limits)
    yield gates.weight_share(*both, limits)
    yield gates.pareto(*both, limits)


def _outcome_gates(compared: Compared, limits: Limits) -> Iterator[Gate]:
    columns = compared.columns
    known = int(columns.known.sum())
    sides = compared.target.weights, compared.baseline.weights
    yield gates.outcome_coverage(known, columns.rows, *sides, limits)
    yield gates.censored(columns.censored, columns.rows, limits)


def _carry_over_gates(compared: Compared, checks: Sequence[Gate]) -> Iterator[Gate]:
    columns = compared.columns
    found = carry_over(columns)
    # That carry-over cannot be tested matters only where there is a next decision and an
    # estimate that it would qualify.
    has_next = columns.rows > columns.sessions
    is_refused = any(
        each.status == "refused" and each.name in OVERLAP for each in checks
    )
    is_shown = compared.is_identified and compared.has_flips and not is_refused
    if found is not None or (has_next and is_shown):
        yield gates.carry_over(found)


def _agreement_gates(
    compared: Compared, around: Interval, limits: Limits, margin: float
) -> Iterator[Gate]:
    snips, columns = compared.snips, compared.columns
    if snips is not None:
        # Influences average 0, so the interval is moved to the estimate it belongs to.
        weighted = plain_interval(columns, compared.paired_snips, columns.known)
        both = around, weighted.moved(snips).clipped(-1.0, 1.0)
        yield gates.agreement((compared.dr, snips), both, limits, margin=margin)


def _notes(
    compared: Compared, around: Interval, *, is_filled: bool
) -> Iterator[Reason]:
    """Yield the caveats that hold whatever the verdict."""
    if compared.has_flips and not compared.is_explored:
        yield Reason(
            "no_exploration",
            "nothing was explored, so alternatives can only be bounded",
        )
    if around.ci is not None and compared.has_flips and not around.is_bootstrap:
        yield Reason(
            "t_interval", "too few sessions to draw them again: a plain t interval"
        )
    unknown = int((~compared.columns.known).sum())
    if unknown and compared.columns.known.any():
        detail = (
            f"{unknown} decisions without a known outcome are left out, as if that"
            " depended on nothing"
        )
        # The interval is of all that they may have come to, the value of none of it.
        tail = (
            "; an interval that is shown holds whatever they were" if is_filled else ""
        )
        yield Reason("complete_cases", detail + tail)


# Bound a strategy's value without assuming anything about what the log does not show.
# Worst-case bounds (Manski, 1990, "Nonparametric bounds on treatment effects"): every
# reward that was not observed may be anything in [0, 1], for arms not taken and for
# unknown outcomes alike. They need no propensity, so they hold where every gate has
# refused.
_Interval = tuple[float, float]


def value_bounds(columns: Columns, odds: Odds) -> _Interval:
    """Return the lowest and highest value a strategy can have on these rows, in [0, 1].

    Low is mean(pi Y) over what was observed; high adds 1 for all odds that were not.
    """
    seen = np.where(columns.known, odds.taken, 0.0)
    low = mean(seen * columns.reward)
    if not columns.rows:
        return 0.0, 1.0
    # The two means are rounded apart, so their sum may come out just above 1.
    return low, min(low + mean(1.0 - seen), 1.0)


def difference_bounds(columns: Columns, contrast: Contrast) -> _Interval:
    """Return the lowest and highest target value less baseline value, in [-1, 1].

    Tighter than the two `value_bounds` subtracted: where both have the same odds on an
    arm, its unknown reward cancels.
    """
    # Where the outcome is unknown, the arm that was taken counts as not observed.
    taken = np.where(columns.known, contrast.taken, 0.0)
    seen = taken * columns.reward
    # The change of odds left to arms that were not observed. It is at least 0 but for
    # rounding, and rounding must not turn a bound inside out.
    loss = np.maximum(contrast.lost - np.maximum(-taken, 0.0), 0.0)
    gain = np.maximum(contrast.gained - np.maximum(taken, 0.0), 0.0)
    return mean(seen - loss), mean(seen + gain)
