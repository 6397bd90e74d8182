"""What an estimate says: both strategies, their difference, and how far to believe it.

Its rule: the names are those of the document, and what may not be said is None.
"""

from dataclasses import asdict, dataclass

from replay.estimation.gates import Gate
from replay.estimation.verdicts import Reason, Verdict

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PolicyEstimate:
    """What a strategy would have been worth; None where that may not be said."""

    n: int
    ips: float | None
    snips: float | None
    dr: float | None
    dm: float | None
    """Predicted by the reward model alone; never a reason for a verdict."""

    se: float | None
    """Of `dr`, clustered by session."""

    ci: Range | None
    """Of `dr`, 95 %."""

    ess: float
    max_weight: float
    max_weight_share: float
    mean_weight: float
    unsupported_mass: float
    bounds: Range
    """What holds whatever the log does not show."""


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


@dataclass(frozen=True, slots=True)
class Estimate:
    """Two strategies and their difference."""

    target: PolicyEstimate
    baseline: PolicyEstimate
    difference: DifferenceEstimate

    def as_json(self) -> dict[str, dict[str, object]]:
        """The document: `target`, `baseline`, `difference`."""
        return asdict(self)
