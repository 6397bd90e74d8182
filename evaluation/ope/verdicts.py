"""Derive the verdict from gates and intervals, with machine-readable reasons.

The order decides: INVALID, then no flips (EQUIVALENT), then NOT_ENOUGH_OVERLAP, then what
leaves it open (INCONCLUSIVE), then EQUIVALENT before BETTER and WORSE, since a difference
too small to matter does not matter, however certain its sign.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from evaluation.ope.carryover import Later
from evaluation.ope.gates import Gate
from evaluation.ope.intervals import Interval


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
        "people",
        "rare_outcomes",
        "ess",
        "max_weight_share",
        "pareto_k",
    }
)
"""Gates that refuse because what the target would do was played too seldom, or with too
few people."""

WITHHELD = frozenset({Verdict.NOT_ENOUGH_OVERLAP, Verdict.INVALID})
"""Verdicts beside which only the bounds of the difference are shown."""

_HANGING = frozenset({"hangs_on_unknown_outcomes", "hangs_on_what_was_never_played"})
"""Codes of reasons beside which, too, only the bounds are shown: the interval would claim what
the log's unknown part can turn round."""

CLAIMS = frozenset({Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT})
"""Verdicts that make a claim about the difference."""

SHORT_TERM = "short_term_only"
"""The code of the reason that limits a verdict to the next outcome, not the long run."""

OPPOSED = "later_outcomes_oppose"
"""The code of the reason that what a claim gains at once is lost at the next decision."""

SEVERAL = "several_challengers"
"""The code of the reason that a claim may be luck among several challengers."""

CODES = {
    "self_replay": "self_replay_differs",
    "propensity_target": "propensities_do_not_fit",
    "propensity_baseline": "propensities_do_not_fit",
    "propensity_uniform": "propensities_do_not_fit",
    "unsupported_mass": "unsupported",
    "flip_observations": "few_flip_observations",
    "flip_sessions": "few_flip_sessions",
    "people": "few_people",
    "rare_outcomes": "rare_outcomes",
    "ess": "low_ess",
    "max_weight_share": "heavy_weight",
    "pareto_k": "heavy_tail",
    "outcome_coverage": "outcomes_unknown",
    "censored": "outcomes_censored",
    "carry_over": SHORT_TERM,
    "cassette": "model_answers_missing",
    "estimators_agree": "estimators_disagree",
}
"""The code of the reason that each gate gives when it is not passed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a verdict is derived from."""

    gates: Sequence[Gate]
    has_flips: bool
    rows: int
    doubly: Interval | None
    """The doubly robust interval of the difference, by what is known; None if it is not
    identified."""

    bounds: tuple[float, float]
    filled: tuple[Interval, ...] = ()
    """The same with all unknown outcomes at their worst for the target, then their best."""

    unseen: tuple[Interval, ...] = ()
    """The hull of all these, shifted down and up by all unsupported mass where the two
    differ."""

    notes: tuple[Reason, ...] = ()


def conclude(evidence: Evidence, margin: float) -> tuple[Verdict, tuple[Reason, ...]]:
    """Return the verdict and its reasons: the deciding one first, then gates not passed.

    A difference within ± `margin`, in outcome units, counts as none.
    """
    verdict, reason = _verdict(evidence, margin)
    gates = [
        Reason(CODES.get(gate.name, gate.name), gate.detail)
        for gate in sorted(evidence.gates, key=lambda gate: -_WEIGHT[gate.status])
        if gate.status != "ok"
    ]
    reasons = [reason, *gates] if reason is not None else gates
    return verdict, (*reasons, *evidence.notes)


_MET = OVERLAP | {"outcome_coverage", "censored"}
"""Gates whose caution says that the limit is met, though not by far."""

Standing: TypeAlias = Literal["refuses", "met", "caution", "note"]
"""What a reason is: a limit not met, one that is, a caution, or no limit at all."""


def standing(reason: Reason, gates: Iterable[Gate]) -> Standing:
    """Return whether a reason tells of a limit, and whether that is met."""
    for gate in gates:
        if reason == Reason(CODES.get(gate.name, gate.name), gate.detail):
            if gate.status in ("refused", "invalid"):
                return "refuses"
            return "met" if gate.name in _MET else "caution"
    return "note"


def of_what(verdict: str) -> str:
    """Return in words what a verdict is one of; empty where it is one of the log."""
    return "" if verdict == Verdict.INVALID else "in the moment"


AGAINST = "later outcomes speak against it"
"""What is said beside a claim that later outcomes oppose."""


def is_opposed(reasons: Iterable[Reason]) -> bool:
    """Tell whether later outcomes speak against the verdict that has these reasons."""
    return any(each.code == OPPOSED for each in reasons)


def opposing(
    verdict: str, at_once: float | None, later: Later | None, margin: float
) -> Reason | None:
    """Return the reason that later outcomes may reverse a claim; None if they do not.

    `at_once` is the difference that is claimed. How fast such an effect fades no log of one
    strategy tells, so it counts as if it lasted to the end of its session.
    """
    if later is None or at_once is None or verdict not in CLAIMS:
        return None
    played_out = at_once + later.lasting
    is_against = {
        Verdict.BETTER: played_out < 0.0,
        Verdict.WORSE: played_out > 0.0,
        Verdict.EQUIVALENT: abs(played_out) > margin,
    }[Verdict(verdict)]
    if not is_against:
        return None
    return Reason(
        OPPOSED,
        f"the target moves the outcome of the decision after by {later.next:+.3f}; if that"
        f" lasted as long as a session, by {later.lasting:+.3f}, against"
        f" {at_once:+.3f} at once: played out, it may be the other way round",
    )


_WEIGHT = {"invalid": 3, "refused": 2, "caution": 1, "ok": 0}


def is_withheld(
    verdict: Verdict, reasons: Sequence[Reason], gates: Sequence[Gate]
) -> bool:
    """Tell whether the values beside a verdict are withheld, all but the bounds.

    They are where nothing may be claimed because of what the log does not hold.
    """
    # What depends on the arm, or is hardly known at all, is no sample of the rest.
    is_biased = any(
        each.name == "outcome_coverage" and each.status == "refused" for each in gates
    )
    is_open = verdict == Verdict.INCONCLUSIVE
    hangs = any(each.code in _HANGING for each in reasons)
    return verdict in WITHHELD or (is_open and (is_biased or hangs))


def _verdict(evidence: Evidence, margin: float) -> tuple[Verdict, Reason | None]:
    refused = {gate.name for gate in evidence.gates if gate.status == "refused"}
    if any(gate.status == "invalid" for gate in evidence.gates):
        return Verdict.INVALID, None
    if not evidence.rows:
        return Verdict.INCONCLUSIVE, Reason(
            "no_decisions", "every decision was cut off"
        )
    # Certain without any estimate: where odds never differ, the difference is exactly 0.
    if not evidence.has_flips:
        return Verdict.EQUIVALENT, Reason(
            "never_differ", "both would have made every decision alike"
        )
    if refused & OVERLAP or evidence.doubly is None:
        return Verdict.NOT_ENOUGH_OVERLAP, _within(evidence.bounds, margin)
    verdict, reason = _of_interval(evidence.doubly, margin)
    # Too few known outcomes may still allow a verdict: one that survives the worst and the
    # best that the unknown ones can be, which is checked below.
    if refused - {"outcome_coverage"}:
        return Verdict.INCONCLUSIVE, None
    found = verdict, reason
    # Here `refused` can hold nothing but the coverage of outcomes. An inconclusive
    # verdict has nothing to lose, so it is not tried in other worlds.
    is_open = evidence.filled or refused
    if is_open and found[0] != Verdict.INCONCLUSIVE:
        found = _survivor(found, evidence.filled, margin, _UNKNOWN)
    if evidence.unseen and found[0] != Verdict.INCONCLUSIVE:
        found = _survivor(found, evidence.unseen, margin, _UNSEEN)
    return found


def _of_interval(found: Interval, margin: float) -> tuple[Verdict, Reason]:
    """Return the verdict that an interval alone supports, with its reason."""
    if found.ci is None:
        return Verdict.INCONCLUSIVE, Reason(
            "single_session", "one session tells nothing of how sessions differ"
        )
    low, high = found.ci
    interval = f"95 % interval [{low:+.4f}, {high:+.4f}]"
    if -margin <= low and high <= margin:
        detail = f"{interval} lies within ±{margin:.2g}, which counts as no difference"
        return Verdict.EQUIVALENT, Reason("interval_within_rope", detail)
    if low > 0.0:
        return Verdict.BETTER, Reason("interval_above_zero", f"{interval} lies above 0")
    if high < 0.0:
        return Verdict.WORSE, Reason("interval_below_zero", f"{interval} lies below 0")
    detail = f"{interval} holds 0 and more than ±{margin:.2g}"
    return Verdict.INCONCLUSIVE, Reason("interval_holds_zero", detail)


def hangs_on(difference: float, share: float, margin: float) -> bool:
    """Tell whether a share that is never played leaves the verdict open for good.

    It does if even an exact `difference` would mean another verdict, moved by that share
    for or against the target. Elsewhere a narrower interval decides.
    """
    ends = (difference - share, difference, difference + share)
    exact = (Interval(0.0, (end, end), None) for end in ends)
    return len({_of_interval(each, margin)[0] for each in exact}) > 1


_UNKNOWN = (
    "hangs_on_unknown_outcomes",
    "had all outcomes that are not known been failures of the target's choice and"
    " successes of the baseline's, then the other way round",
)
_UNSEEN = (
    "hangs_on_what_was_never_played",
    "had what was never played been as bad for the target as it could be, then as good",
)


def _survivor(
    found: tuple[Verdict, Reason],
    worlds: tuple[Interval, ...],
    margin: float,
    supposed: tuple[str, str],
) -> tuple[Verdict, Reason]:
    """Return `found` if each supposed world gives the same verdict, else INCONCLUSIVE.

    Without any world to try it cannot be known to survive, so it does not.
    """
    verdict, _ = found
    others = [_of_interval(each, margin)[0] for each in worlds]
    if verdict in others and all(each == verdict for each in others):
        return found
    code, how = supposed
    answers = ", then ".join(map(_with_interval, others, worlds)) or "not known"
    return Verdict.INCONCLUSIVE, Reason(
        code, f"{how}, the verdict would be {answers}; as is: {verdict}"
    )


def _with_interval(verdict: Verdict, found: Interval) -> str:
    if found.ci is None:
        return str(verdict)
    return f"{verdict} [{found.ci[0]:+.4f}, {found.ci[1]:+.4f}]"


def _within(bounds: tuple[float, float], margin: float) -> Reason | None:
    low, high = bounds
    if -margin <= low and high <= margin:
        return Reason(
            "bounds_within_rope",
            f"whatever the log does not show, the difference of these decisions lies in"
            f" [{low:+.4f}, {high:+.4f}]",
        )
    return None
