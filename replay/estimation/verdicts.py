"""The verdict, and the reasons for it that a machine can read.

Its rule is the order: INVALID, then no difference at all, then too little overlap, then
what leaves it open, then EQUIVALENT before BETTER and WORSE: what is too small to matter
does not matter, however sure its sign.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from replay.estimation.gates import Gate
from replay.estimation.intervals import Interval


class Verdict(StrEnum):
    """What may be said of the target against the baseline."""

    BETTER = "BETTER"
    WORSE = "WORSE"
    EQUIVALENT = "EQUIVALENT"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_ENOUGH_OVERLAP = "NOT_ENOUGH_OVERLAP"
    INVALID = "INVALID"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the verdict is what it is, or what to keep in mind of it."""

    code: str
    detail: str


OVERLAP = frozenset(
    {
        "unsupported_mass",
        "flip_observations",
        "flip_sessions",
        "ess",
        "max_weight_share",
        "pareto_k",
    }
)
"""Gates that refuse because what the target would do was played too seldom."""

CODES = {
    "self_replay": "self_replay_differs",
    "propensity_target": "propensities_do_not_fit",
    "propensity_baseline": "propensities_do_not_fit",
    "propensity_uniform": "propensities_do_not_fit",
    "unsupported_mass": "unsupported",
    "flip_observations": "few_flip_observations",
    "flip_sessions": "few_flip_sessions",
    "ess": "low_ess",
    "max_weight_share": "heavy_weight",
    "pareto_k": "heavy_tail",
    "outcome_coverage": "outcomes_unknown",
    "censored": "outcomes_censored",
    "carry_over": "short_term_only",
    "cassette": "model_answers_missing",
    "estimators_agree": "estimators_disagree",
}
"""The code of the reason that each gate gives when it is not passed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a verdict rests on."""

    gates: Sequence[Gate]
    has_flips: bool
    rows: int
    doubly: Interval | None
    """Of the difference; None if no point estimate may be given."""

    bounds: tuple[float, float]
    filled: tuple[Interval, ...] = ()
    """The same with all unknown outcomes taken as 0, and as 1."""

    unseen: tuple[Interval, ...] = ()
    """The same moved by all the odds on what was never played, down and up."""

    notes: tuple[Reason, ...] = ()


def conclude(evidence: Evidence, rope: float) -> tuple[Verdict, tuple[Reason, ...]]:
    """The verdict and its reasons: the deciding one first, then every gate not passed."""
    verdict, reason = _verdict(evidence, rope)
    gates = [
        Reason(CODES.get(gate.name, gate.name), gate.detail)
        for gate in sorted(evidence.gates, key=lambda gate: -_WEIGHT[gate.status])
        if gate.status != "ok"
    ]
    told = [reason, *gates] if reason is not None else gates
    return verdict, (*told, *evidence.notes)


_WEIGHT = {"invalid": 3, "refused": 2, "caution": 1, "ok": 0}


def _verdict(evidence: Evidence, rope: float) -> tuple[Verdict, Reason | None]:
    refused = {gate.name for gate in evidence.gates if gate.status == "refused"}
    if any(gate.status == "invalid" for gate in evidence.gates):
        return Verdict.INVALID, None
    if not evidence.rows:
        return Verdict.INCONCLUSIVE, Reason(
            "no_decisions", "every decision was cut off"
        )
    if not evidence.has_flips:
        return Verdict.EQUIVALENT, Reason(
            "never_differ", "both would have made every decision alike"
        )
    if refused & OVERLAP or evidence.doubly is None:
        return Verdict.NOT_ENOUGH_OVERLAP, _within_rope(evidence.bounds, rope)
    verdict, reason = _of_interval(evidence.doubly, rope)
    if refused - {"outcome_coverage"}:
        return Verdict.INCONCLUSIVE, None
    found = verdict, reason
    if refused:
        found = _survivor(found, evidence.filled, rope, _UNKNOWN)
    if evidence.unseen and found[0] != Verdict.INCONCLUSIVE:
        found = _survivor(found, evidence.unseen, rope, _UNSEEN)
    return found


def _of_interval(found: Interval, rope: float) -> tuple[Verdict, Reason]:
    if found.ci is None:
        return Verdict.INCONCLUSIVE, Reason(
            "single_session", "one session tells nothing of how sessions differ"
        )
    low, high = found.ci
    told = f"95 % interval [{low:+.4f}, {high:+.4f}]"
    if -rope <= low and high <= rope:
        detail = f"{told} lies within ±{rope:g}, which counts as no difference"
        return Verdict.EQUIVALENT, Reason("interval_within_rope", detail)
    if low > 0.0:
        return Verdict.BETTER, Reason("interval_above_zero", f"{told} lies above 0")
    if high < 0.0:
        return Verdict.WORSE, Reason("interval_below_zero", f"{told} lies below 0")
    detail = f"{told} holds 0 and more than ±{rope:g}"
    return Verdict.INCONCLUSIVE, Reason("interval_holds_zero", detail)


_UNKNOWN = "hangs_on_unknown_outcomes", "with unknown outcomes 0, then 1"
_UNSEEN = (
    "hangs_on_what_was_never_played",
    "with what was never played as bad for the target, then as good, as it could be",
)


def _survivor(
    found: tuple[Verdict, Reason],
    worlds: tuple[Interval, ...],
    rope: float,
    supposed: tuple[str, str],
) -> tuple[Verdict, Reason]:
    """A verdict that hangs on what is not known, if it is the same whatever that was."""
    verdict, _ = found
    others = [_of_interval(each, rope)[0] for each in worlds]
    if verdict in others and all(each == verdict for each in others):
        return found
    code, how = supposed
    told = ", ".join(others)
    return Verdict.INCONCLUSIVE, Reason(
        code, f"{how}, the verdict is {told}; as is: {verdict}"
    )


def _within_rope(bounds: tuple[float, float], rope: float) -> Reason | None:
    low, high = bounds
    if -rope <= low and high <= rope:
        return Reason(
            "bounds_within_rope",
            f"whatever the log does not show, the difference of these decisions lies in"
            f" [{low:+.4f}, {high:+.4f}]",
        )
    return None
