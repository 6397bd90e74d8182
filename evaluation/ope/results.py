"""The results of an estimate: both strategies, their difference, gates and verdict.

Field names are those of the document. `withheld` marks values that a gate holds back;
`as_json` gives null for them.
"""

from dataclasses import asdict, dataclass, replace
from typing import Self

from evaluation.ope.gates import Gate
from evaluation.ope.verdicts import Reason, Verdict

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PolicyEstimate:
    """A strategy's estimated value in outcome units; None where it is not identified."""

    n: int
    ips: float | None
    snips: float | None
    dr: float | None
    dm: float | None
    """The reward model's prediction alone; never a reason for a verdict."""

    se: float | None
    """The standard error of `dr`, clustered by session."""

    ci: Range | None
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

    def without_values(self) -> Self:
        """Return it with its values held back."""
        return replace(
            self,
            # Bounds stay, since no gate bears on them, and so do the
            # figures that say why one refused.
            ips=None,
            snips=None,
            dr=None,
            dm=None,
            se=None,
            ci=None,
            withheld=True,
        )


@dataclass(frozen=True, slots=True)
class DifferenceEstimate:
    """Target less baseline, on the same decisions."""

    ips: float | None
    snips: float | None
    dr: float | None
    se: float | None
    ci: Range | None
    p_value: float | None
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

    def without_values(self) -> Self:
        """Return it with its values held back."""
        return replace(
            self,
            ips=None,
            snips=None,
            dr=None,
            se=None,
            ci=None,
            p_value=None,
            withheld=True,
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """Two strategies and their difference."""

    target: PolicyEstimate
    baseline: PolicyEstimate
    difference: DifferenceEstimate

    def shown(self) -> "Estimate":
        """Return the estimate with None for every value that a gate holds back."""
        target, baseline, found = self.target, self.baseline, self.difference
        return Estimate(
            target=target.without_values() if target.withheld else target,
            baseline=baseline.without_values() if baseline.withheld else baseline,
            difference=found.without_values() if found.withheld else found,
        )

    def as_json(self, *, all_shown: bool = False) -> dict[str, dict[str, object]]:
        """Return the document with `target`, `baseline` and `difference`.

        Withheld values are null, unless `all_shown`.
        """
        return asdict(self if all_shown else self.shown())
