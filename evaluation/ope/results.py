"""What an estimate says: both strategies, their difference, and how far to believe it.

The names are those of the document; what may not be said is None there, and
`withheld` says that a gate is why.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from evaluation.ope.gates import Gate
from evaluation.ope.verdicts import Reason, Verdict

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

    withheld: bool = False
    """Whether a gate holds back all values of it but the bounds."""


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
    """A difference within ± this much counts as none."""

    short_term_only: bool = False
    """Whether what a decision does to later ones is seen, or cannot be tested."""

    withheld: bool = False
    """Whether a gate holds back all values of it but the bounds."""


VALUES = ("ips", "snips", "dr", "dm", "se", "ci", "p_value")
"""What a gate holds back."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Two strategies and their difference."""

    target: PolicyEstimate
    baseline: PolicyEstimate
    difference: DifferenceEstimate

    def as_json(self, *, all_shown: bool = False) -> dict[str, dict[str, object]]:
        """Return the document: `target`, `baseline`, `difference`.

        What a gate withholds is null; `all_shown` gives it nevertheless.
        """
        parts: dict[str, dict[str, object]] = asdict(self)
        if all_shown:
            return parts
        return {name: _told(part) for name, part in parts.items()}


def _told(part: Mapping[str, object]) -> dict[str, object]:
    if not part["withheld"]:
        return dict(part)
    return {name: None if name in VALUES else part[name] for name in part}
