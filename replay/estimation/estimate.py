"""From logged decisions to values, their gates and a verdict: the whole of the method.

Its rule: no point estimate of what was not played; then there are bounds.
"""

from collections.abc import Iterable, Iterator

from replay.estimation import gates
from replay.estimation.bounds import difference_bounds, value_bounds
from replay.estimation.carryover import CarryOver, carry_over
from replay.estimation.columns import columns_of
from replay.estimation.compared import Compared, Side, compare, filled
from replay.estimation.gates import Gate
from replay.estimation.intervals import Interval, interval, plain_interval
from replay.estimation.results import DifferenceEstimate, Estimate, PolicyEstimate
from replay.estimation.rows import Observation
from replay.estimation.settings import EstimationSettings, Limits, SelfReplay
from replay.estimation.verdicts import Evidence, Reason, conclude
from replay.estimation.weights import uniform_z

_UNTOLD = Interval(None, None, None)
_ZERO = Interval(0.0, (0.0, 0.0), 1.0)


def estimate(
    observations: Iterable[Observation],
    settings: EstimationSettings | None = None,
    *,
    self_replay: SelfReplay | None = None,
    cassette_hit_rate: float | None = None,
) -> Estimate:
    """Estimate both strategies and their difference.

    `self_replay` and `cassette_hit_rate` are gates of their own, where they are known.

    Raises:
        ObservationError: a row cannot be true, a decision comes twice, or there is none.
    """
    settings = settings or EstimationSettings()
    limits = settings.limits
    columns = columns_of(observations)
    compared = compare(columns, limits.unsupported_mass_max)
    checks = [
        *_replay_gates(self_replay, cassette_hit_rate, limits),
        *_propensity_gates(compared, limits),
        *_overlap_gates(compared, limits),
        *_outcome_gates(compared, limits),
        *_carry_over_gates(carry_over(columns)),
    ]
    return Estimate(
        target=_policy(compared, compared.target, settings),
        baseline=_policy(compared, compared.baseline, settings),
        difference=_difference(compared, checks, settings),
    )


def _policy(
    compared: Compared, side: Side, settings: EstimationSettings
) -> PolicyEstimate:
    columns, values, weights = compared.columns, side.values, side.weights
    shown = side.is_identified
    around = (
        interval(columns, values.psi, columns.known, settings.resamples)
        if shown
        else _UNTOLD
    )
    return PolicyEstimate(
        n=columns.rows,
        ips=values.ips if shown else None,
        snips=values.snips if shown else None,
        dr=values.dr if shown else None,
        dm=values.dm if shown else None,
        se=around.se,
        ci=around.ci,
        ess=weights.ess,
        max_weight=weights.max_weight,
        max_weight_share=weights.max_share,
        mean_weight=weights.mean_weight,
        unsupported_mass=weights.unsupported_mass,
        bounds=value_bounds(columns, side.odds),
    )


def _difference(
    compared: Compared, checks: list[Gate], settings: EstimationSettings
) -> DifferenceEstimate:
    shown = compared.is_identified
    around = _around(compared, settings.resamples) if shown else _UNTOLD
    if shown and compared.has_flips:
        checks = [*checks, *_agreement_gates(compared, around, settings)]
    bounds = difference_bounds(compared.columns, compared.contrast)
    evidence = Evidence(
        gates=checks,
        rows=compared.columns.rows,
        has_flips=compared.has_flips,
        doubly=around if shown else None,
        bounds=bounds,
        filled=_filled(compared, checks, settings),
        unseen=_unseen(compared, around),
        notes=tuple(_notes(compared, around, checks)),
    )
    verdict, reasons = conclude(evidence, settings.rope)
    return DifferenceEstimate(
        ips=_difference_of(compared, compared.ips) if shown else None,
        snips=_difference_of(compared, compared.snips) if shown else None,
        dr=_difference_of(compared, compared.dr) if shown else None,
        se=around.se,
        ci=around.ci,
        p_value=around.p_value,
        flip_share=compared.contrast.share,
        flip_observations=compared.target.flips.count,
        bounds=bounds,
        gates=tuple(checks),
        verdict=verdict,
        reasons=reasons,
    )


def _difference_of(compared: Compared, found: float | None) -> float | None:
    """What was found; exactly 0 where there is no difference."""
    return found if compared.has_flips else 0.0


def _around(compared: Compared, resamples: int) -> Interval:
    if not compared.has_flips:
        return _ZERO
    columns = compared.columns
    return interval(columns, compared.paired, columns.known, resamples)


def _filled(
    compared: Compared, checks: list[Gate], settings: EstimationSettings
) -> tuple[Interval, ...]:
    """The interval with unknown rewards taken as 0 and as 1, where it is asked for."""
    asked = any(
        gate.name == "outcome_coverage" and gate.status == "refused" for gate in checks
    )
    if not asked or not compared.is_identified:
        return ()
    limit = settings.limits.unsupported_mass_max
    worlds = [compare(filled(compared.columns, to), limit) for to in (0.0, 1.0)]
    return tuple(_around(world, settings.resamples) for world in worlds)


def _unseen(compared: Compared, around: Interval) -> tuple[Interval, ...]:
    """The interval at either end of what was never played, of which a model guessed."""
    mass = compared.guessed_mass
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
    uniform = uniform_z(compared.columns)
    if uniform is not None:
        yield gates.propensity("uniform", uniform, None, limits)


def _overlap_gates(compared: Compared, limits: Limits) -> Iterator[Gate]:
    target, baseline = compared.target, compared.baseline
    share, rows = compared.contrast.share, compared.columns.rows
    yield gates.unsupported(target.weights, baseline.weights, limits)
    yield gates.flip_observations(target.flips, baseline.flips, share, limits)
    yield gates.flip_sessions(target.flips, baseline.flips, share, limits)
    yield gates.effective_size(target.weights, baseline.weights, rows, limits)
    yield gates.weight_share(target.weights, baseline.weights, limits)
    yield gates.pareto(target.weights, baseline.weights, limits)


def _outcome_gates(compared: Compared, limits: Limits) -> Iterator[Gate]:
    columns = compared.columns
    known = int(columns.known.sum())
    sides = compared.target.weights, compared.baseline.weights
    yield gates.outcome_coverage(known, columns.rows, *sides, limits)
    yield gates.censored(columns.censored, columns.rows, limits)


def _carry_over_gates(found: CarryOver | None) -> Iterator[Gate]:
    if found is not None:
        yield gates.carry_over(found)


def _agreement_gates(
    compared: Compared, around: Interval, settings: EstimationSettings
) -> Iterator[Gate]:
    snips, columns = compared.snips, compared.columns
    if snips is not None:
        weighted = plain_interval(columns, compared.paired_snips, columns.known)
        yield gates.agreement(
            (compared.dr, snips), (around, weighted.moved(snips)), settings
        )


def _notes(
    compared: Compared, around: Interval, checks: list[Gate]
) -> Iterator[Reason]:
    """What to keep in mind, whatever the verdict."""
    if compared.has_flips and not compared.is_explored:
        yield Reason(
            "no_exploration",
            "every arm was certain: what was not played was never seen, only bounded",
        )
    if around.ci is not None and compared.has_flips and not around.is_bootstrap:
        yield Reason(
            "t_interval", "too few sessions to draw them again: a plain t interval"
        )
    unknown = int((~compared.columns.known).sum())
    if unknown and compared.columns.known.any():
        yield Reason(
            "complete_cases",
            f"{unknown} decisions without a known outcome are left out, as if that"
            " depended on nothing",
        )
    is_tested = any(gate.name == "carry_over" for gate in checks)
    has_next = compared.columns.rows > compared.columns.sessions
    if around.ci is not None and compared.has_flips and has_next and not is_tested:
        yield Reason(
            "carry_over_untested",
            "whether a decision moves the outcome of the next one could not be tested",
        )
