"""The parts of a comparison that are drawn: costs, calibration, curves, lanes, weights."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["fact", "imputed", "observed", "estimated", "predicted"]
Curve = tuple[tuple[str, float], ...]
"""Pairs of a time (RFC 3339) and the confidence from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeoffPoint:
    """What one side costs, and what it gives for that."""

    label: str
    cost_usd: float | None
    latency_ms: float | None
    success: float | None
    """None where a gate holds it back."""
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Predictions from `low` to `high`, inclusive, and what came of them."""

    low: float
    high: float
    count: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPart:
    """How well confidence predicted the outcomes of what was answered."""

    answers: int
    brier: float
    skill: float | None
    ece: float
    """The expected calibration error."""
    null_band: tuple[float, float]
    """That error's mean and 95th percentile if every confidence were exact."""
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePart:
    """A heuristic's confidence over time: as recorded, and in the challenger's own life."""

    heuristic: str
    name: str
    session: str
    baseline: Curve
    challenger: Curve


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEvent:
    """What both sides did at one decision."""

    at: str
    baseline: str
    challenger: str
    outcome: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One session, decision by decision."""

    session: str
    events: tuple[TimelineEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightBin:
    """How many decisions have an importance weight from `low` to under `high`."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionWeight:
    """The importance weight of one decision."""

    decision: str | None
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightsPart:
    """The challenger's importance weights, and the largest of them."""

    histogram: tuple[WeightBin, ...] = ()
    top: tuple[DecisionWeight, ...] = ()
