"""The results of an estimate: both strategies, their difference, gates and verdict.

Field names are those of the document. `withheld` marks values that a gate holds back;
`as_json` gives null for them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from evaluation.ope import significance
from evaluation.ope.gates import Gate
from evaluation.ope.people import NOBODY_NAMED, Whom
from evaluation.ope.verdicts import OPPOSED, SEVERAL, Reason, Verdict

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEstimate:
    """A strategy's estimated value in outcome units; None where it is not identified."""

    n: int
    ips: float | None = None
    snips: float | None = None
    dr: float | None = None
    dm: float | None = None
    """The reward model's prediction alone; never a reason for a verdict."""

    se: float | None = None
    """The standard error of `dr`, clustered by session, or by person."""

    ci: Range | None = None
    """The 95 % confidence interval of `dr`."""

    ess: float
    max_weight: float
    max_weight_share: float
    mean_weight: float
    unsupported_mass: float
    bounds: Range
    """Manski's bounds, which hold whatever the log does not show."""

    withheld: bool = False
    """Whether a gate holds back all its values but the bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceEstimate:
    """Target less baseline, on the same decisions."""

    ips: float | None = None
    snips: float | None = None
    dr: float | None = None
    se: float | None = None
    ci: Range | None = None
    """The 95 % interval of `dr`, whatever outcomes that are not known were, and what could
    never be played was worth."""

    p_value: float | None = None
    flip_share: float
    flip_observations: float
    bounds: Range
    gates: tuple[Gate, ...]
    verdict: Verdict
    reasons: tuple[Reason, ...]
    margin: float = 0.0
    """A difference within ± this much, in outcome units, counts as none."""

    short_term_only: bool = False
    """Whether carry-over to later decisions was found, or could not be tested."""

    withheld: bool = False
    """Whether a gate holds back all its values but the bounds."""

    whom: Whom = NOBODY_NAMED
    """For whom it speaks."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Two strategies and their difference."""

    target: PolicyEstimate
    baseline: PolicyEstimate
    difference: DifferenceEstimate

    def shown(self) -> "Estimate":
        """Return the estimate with None for every value that a gate holds back."""
        return Estimate(
            target=_shown(self.target, "dm"),
            baseline=_shown(self.baseline, "dm"),
            difference=_shown(self.difference, "p_value"),
        )

    def among(self, others: Sequence[float | None]) -> "Estimate":
        """Return the estimate as it stands beside others on the same log.

        `others` are their p-values, uncorrected. BETTER and WORSE become INCONCLUSIVE if
        Holm's adjusted p-value exceeds `significance.ALPHA`. EQUIVALENT stays: the p-value
        is that of a difference, and a missing one is not found by luck in searching.
        """
        difference = self.difference
        adjusted = significance.among(difference.p_value, others)
        is_claim = difference.verdict in (Verdict.BETTER, Verdict.WORSE)
        if not is_claim or adjusted is None or adjusted <= significance.ALPHA:
            return self
        deciding, *rest = difference.reasons
        reason = Reason(
            SEVERAL,
            f"{deciding.detail}, but p = {difference.p_value:.3g} becomes {adjusted:.3g}"
            f" once all {len(others) + 1} challengers are counted",
        )
        kept = (each for each in rest if each.code != OPPOSED)
        corrected = replace(
            difference, verdict=Verdict.INCONCLUSIVE, reasons=(reason, *kept)
        )
        return replace(self, difference=corrected)

    def as_json(self, *, all_shown: bool = False) -> dict[str, dict[str, object]]:
        """Return the document with `target`, `baseline` and `difference`.

        Withheld values are null, unless `all_shown`.
        """
        return asdict(self if all_shown else self.shown())


_Part = TypeVar("_Part", PolicyEstimate, DifferenceEstimate)


def _shown(part: _Part, own: str) -> _Part:
    """Return it with None for its values, if a gate holds them back."""
    # Bounds stay, since no gate bears on them, and so do the figures that say why one
    # refused.
    values: dict[str, Any] = dict.fromkeys(("ips", "snips", "dr", "se", "ci", own))
    return replace(part, **values) if part.withheld else part
