"""The gates that a log has to pass before a difference of strategies is shown.

Each returns one `Gate` with its value, limit and status. A gate that refuses takes the
verdict with it and none can be switched off; why each limit is where it is stands with
`Limits`. Gates on weights look at both strategies and show the weaker side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evaluation.ope.carryover import ALPHA, CarryOver
from evaluation.ope.flips import FlipObservations
from evaluation.ope.intervals import Interval
from evaluation.ope.settings import Limits, SelfReplay
from evaluation.ope.weight_diagnostics import Weights

Status: TypeAlias = Literal["ok", "caution", "refused", "invalid"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The result of one check, with the limit at which it would refuse."""

    name: str
    status: Status
    value: float | None
    limit: float | None
    detail: str


def self_replay(found: SelfReplay) -> Gate:
    """Check that replaying the recording under its own strategy gave the same outputs."""
    detail = f"{found.identical}/{found.total} outputs identical"
    status: Status = "ok"
    if not found.is_identical:
        status = "invalid"
        detail += f"; first divergence: {found.divergence or 'not told'}"
    elif found.is_other_code:
        status, detail = "caution", detail + ", though code or configuration changed"
    share = found.identical / found.total if found.total else 1.0
    return Gate("self_replay", status, share, 1.0, detail)


def propensity(name: str, z: float, mean_weight: float | None, limits: Limits) -> Gate:
    """Check that a strategy's weights average what the logged propensities imply.

    `z` is in standard errors; a negative one may also come of arms that were out of reach.
    """
    size = abs(z)
    average = "" if mean_weight is None else f", mean weight {mean_weight:.3f}"
    detail = (
        "what was drawn is"
        f" {size:.1f} standard errors off the logged probabilities{average}"
    )
    status: Status = "ok"
    if size > limits.propensity_z_max:
        status = "invalid"
        detail += f" (at most {limits.propensity_z_max:g})"
        detail += (
            ": the logged probabilities are not those it was drawn with"
            if z > 0.0
            else ": the logged probabilities are not those it was drawn with, or some"
            " arms could not be drawn everywhere (then log the odds of all: `logging`)"
        )
    elif size > limits.propensity_z_caution_max:
        status = "caution"
        detail += f" (up to {limits.propensity_z_caution_max:g} are chance)"
    return Gate(
        f"propensity_{name}", status, _finite(z), limits.propensity_z_max, detail
    )


def unsupported(target: Weights, baseline: Weights, limits: Limits) -> Gate:
    """Check how much of the odds lies on arms that the log could never show."""
    value, whose = _weaker(max, target.unsupported_mass, baseline.unsupported_mass)
    most = limits.unsupported_mass_max
    detail = (
        f"{value:.1%} of what the {whose} would do could never be tried there (at most"
        f" {most:.0%})"
    )
    caution = limits.unsupported_mass_caution_max
    return _at_most("unsupported_mass", value, most, caution, detail)


def flip_observations(
    target: FlipObservations, baseline: FlipObservations, share: float, limits: Limits
) -> Gate:
    """Check how often each side's own arm was played where the two differ."""
    value, whose = _weaker(min, target.count, baseline.count)
    need, caution = limits.flip_observations, limits.flip_observations_caution
    detail = (
        f"where the two differ, the {whose}'s choice has {_count(value)} known"
        f" outcome{'' if value == 1 else 's'} (need {need:g})"
    )
    return _of_flips(
        share, _at_least("flip_observations", value, need, caution, detail)
    )


def flip_sessions(
    target: FlipObservations, baseline: FlipObservations, share: float, limits: Limits
) -> Gate:
    """Check in how many sessions a side's own arm was played where the two differ."""
    value, whose = _weaker(min, target.sessions, baseline.sessions)
    need, caution = limits.flip_sessions, limits.flip_sessions_caution
    detail = (
        f"where the two differ, the {whose}'s choice was tried in"
        f" {value:,.0f} session{'' if value == 1 else 's'} (need {need:g})"
    )
    return _of_flips(share, _at_least("flip_sessions", value, need, caution, detail))


def people(
    target: FlipObservations, baseline: FlipObservations, share: float, limits: Limits
) -> Gate:
    """Check with how many people a side's own arm was played where the two differ.

    A verdict for people like these rests on how people differ, not sessions.
    """
    value, whose = _weaker(min, target.people or 0, baseline.people or 0)
    need, caution = limits.people, limits.people_caution
    detail = (
        f"where the two differ, the {whose}'s choice was tried with {value:,.0f}"
        f" {'person' if value == 1 else 'people'} (need {need:g})"
    )
    if target.people is None:
        detail = "no decision says whose it is: people like these need `person` in rows"
    return _of_flips(share, _at_least("people", value, need, caution, detail))


def rare_outcomes(
    target: FlipObservations, baseline: FlipObservations, share: float, limits: Limits
) -> Gate:
    """Check that outcomes vary enough at flips for an interval to hold the truth.

    Where nearly all fail, a few successes carry the whole difference, and seeing none by
    chance looks like certainty.
    """
    value, whose = _weaker(min, target.rare, baseline.rare)
    need, caution = limits.rare_outcomes, limits.rare_outcomes_caution
    detail = (
        f"where the two differ, {value:,.1f} outcomes of the {whose}'s choice are expected"
        f" to be the rarer one (need {need:g})"
    )
    return _of_flips(share, _at_least("rare_outcomes", value, need, caution, detail))


def effective_size(
    target: Weights, baseline: Weights, rows: int, limits: Limits
) -> Gate:
    """Check the effective sample size (Kish), in decisions and as a share of all rows."""
    # Both limits apply: a share alone would pass ten decisions of a short log, a number
    # alone a log of which nearly everything is ignored.
    value, whose = _weaker(min, target.ess, baseline.ess)
    need = max(limits.ess, limits.ess_share * rows)
    detail = (
        f"effective sample size {_count(value)} of {rows:,} for the {whose}"
        f" (need {_count(need)})"
    )
    return _at_least("ess", value, need, limits.ess_share_caution * rows, detail)


def weight_share(target: Weights, baseline: Weights, limits: Limits) -> Gate:
    """Check the largest share of all weight that a single decision has."""
    value, whose = _weaker(max, target.max_share, baseline.max_share)
    most, caution = limits.weight_share_max, limits.weight_share_caution_max
    detail = (
        f"the heaviest decision has {value:.1%} of the say on the {whose} (at most"
        f" {most:.0%})"
    )
    return _at_most("max_weight_share", value, most, caution, detail)


def pareto(target: Weights, baseline: Weights, limits: Limits) -> Gate:
    """Check that the weights' tail is light enough for their mean to converge (Pareto k)."""
    found = [k for k in (target.pareto_k, baseline.pareto_k) if k is not None]
    value = max(found, default=None)
    # No fitted shape on either side is no reason to refuse: see `Weights.pareto_k`.
    if value is None:
        most = max(target.most, baseline.most)
        bound = "" if most == float("inf") else f": no weight exceeds {most:.3g}"
        detail = f"no few decisions outweigh all others{bound}"
        return Gate("pareto_k", "ok", None, limits.pareto_k_max, detail)
    status: Status = "ok"
    # At the limit already, as at 1/2 for the caution: the variance is infinite from
    # there on, and not only above it.
    if value >= limits.pareto_k_max:
        status = "refused"
    elif value >= limits.pareto_k_caution_max:
        status = "caution"
    detail = (
        f"how far a few decisions outweigh all others: {value:.2f} (below"
        f" {limits.pareto_k_max:g})"
    )
    return Gate("pareto_k", status, value, limits.pareto_k_max, detail)


def outcome_coverage(
    known: int, rows: int, target: Weights, baseline: Weights, limits: Limits
) -> Gate:
    """Check how many outcomes are known, and whether that depends on the arm."""
    share = known / rows if rows else 0.0
    need = limits.known_share
    detail = f"{known:,} of {rows:,} outcomes known (need {need:.0%})"
    z = max(abs(target.known_z), abs(baseline.known_z))
    # If knowing an outcome depends on the arm, the known ones are a biased sample, however
    # many they are.
    if known < rows and z > limits.propensity_z_max:
        detail += (
            f"; whether one is known depends on the arm (z {z:.1f}, at most"
            f" {limits.propensity_z_max:g})"
        )
        return Gate("outcome_coverage", "refused", share, need, detail)
    caution = limits.known_share_caution
    return _at_least("outcome_coverage", share, need, caution, detail)


def censored(count: int, rows: int, limits: Limits) -> Gate:
    """Check how many decisions were left out because their outcome was cut off."""
    share = count / (count + rows) if count else 0.0
    most, caution = limits.censored_share_max, limits.censored_share_caution_max
    detail = (
        f"{count:,} of {count + rows:,} decisions cut off before their outcome (at most"
        f" {most:.0%})"
    )
    return _at_most("censored", share, most, caution, detail)


def cassette(hit_rate: float, limits: Limits) -> Gate:
    """Check how many of the target's model answers the recording holds.

    It only cautions: values rest on the log's own rows, behaviour and cost on answers.
    """
    least = limits.cassette_hit_rate_caution
    status: Status = "ok" if hit_rate >= least else "caution"
    detail = (
        f"{hit_rate:.0%} of the target's model answers are in the recording (need"
        f" {least:.0%})"
    )
    return Gate("cassette", status, hit_rate, least, detail)


def carry_over(found: CarryOver | None) -> Gate:
    """Check whether having spoken affects the next outcome; None: it cannot be tested.

    It only cautions, which limits the verdict to the short term.
    """
    if found is None:
        detail = (
            "whether having spoken moves the next outcome cannot be tested: this holds in"
            " the short term only"
        )
        return Gate("carry_over", "caution", None, ALPHA, detail)
    status: Status = "caution" if found.is_significant else "ok"
    detail = (
        f"having spoken moves the next outcome by {found.effect:+.3f}"
        f" (p {found.p_value:.3f}, chance from {found.alpha:g})"
    )
    if found.is_significant:
        detail += ": this holds in the short term only"
    return Gate("carry_over", status, found.p_value, found.alpha, detail)


def agreement(
    points: tuple[float, float],
    around: tuple[Interval, Interval],
    limits: Limits,
    *,
    margin: float,
) -> Gate:
    """Check that two estimators of the difference, DR and SNIPS, agree.

    Opposite signs refuse, unless the interval lies within ±`margin`.
    """
    (dr, snips), (doubly, weighted) = points, around
    limit = limits.agreement_caution
    overlap = _overlap(doubly.ci, weighted.ci)
    status: Status = "ok"
    if overlap is not None and overlap < limit:
        status = "caution"
    within = (
        doubly.ci is not None and -margin <= doubly.ci[0] and doubly.ci[1] <= margin
    )
    # Where there is practically no difference, opposite signs are no contradiction.
    if dr * snips < 0.0 and not within:
        status = "refused"
    detail = f"estimated in two ways: doubly robust {dr:+.4f}, SNIPS {snips:+.4f}"
    if status == "caution":
        detail += f", whose intervals share less than {limit:.0%}"
    return Gate("estimators_agree", status, overlap, limit, detail)


def _overlap(
    one: tuple[float, float] | None, other: tuple[float, float] | None
) -> float | None:
    """Return the share of the shorter interval that lies within the other."""
    if one is None or other is None:
        return None
    shorter = min(one[1] - one[0], other[1] - other[0])
    common = min(one[1], other[1]) - max(one[0], other[0])
    # An interval of no width lies within the other as a whole or not at all.
    if shorter <= 0.0:
        return 1.0 if common >= 0.0 else 0.0
    return max(0.0, common / shorter)


def _weaker(
    worse: Callable[[float, float], float], target: float, baseline: float
) -> tuple[float, str]:
    """Return the worse of a figure of both and whose it is; the target's if equal."""
    value = worse(target, baseline)
    return value, "target" if value == target else "baseline"


def _at_most(name: str, value: float, most: float, caution: float, detail: str) -> Gate:
    status: Status = "caution" if value > caution else "ok"
    return Gate(name, "refused" if value > most else status, value, most, detail)


def _at_least(
    name: str, value: float, need: float, caution: float, detail: str
) -> Gate:
    status: Status = "caution" if value < caution else "ok"
    return Gate(name, "refused" if value < need else status, value, need, detail)


def _of_flips(share: float, gate: Gate) -> Gate:
    """Return a gate on flips, which is open where there are none."""
    nothing = "the two never differ: there is nothing to observe"
    return gate if share else Gate(gate.name, "ok", 0, gate.limit, nothing)


def _count(value: float) -> str:
    """Return a count as text, with one decimal if it is not whole (an effective number)."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _finite(z: float) -> float | None:
    # JSON has no infinity; the detail still says how far off it is.
    return z if abs(z) < float("inf") else None
