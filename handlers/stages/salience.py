"""Salience: does this event matter enough to answer, now?

S is the weighted mean of the dimensions that have a value: the sensor's hint, else the
pack's default for the event type, and computed novelty. S_eff = S * s, where s falls with
habituation. An event passes at S_eff >= the relevance threshold; a threat of 0.8 or more
always passes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from projections.folds import habits
from projections.folds.domains import Domain
from projections.folds.events import Appearance
from schemas import vectors
from schemas.decisions import Gate, Salience
from schemas.numbers import clamp, round6, total
from schemas.reasons import Silence
from schemas.sensing import Dimension, Intent, Sensed
from schemas.settings import MindSettings
from schemas.state import AgentState, SourceMemory
from schemas.vectors import Vector

THREAT_ALWAYS_PASSES = 0.8

_NO_WEIGHTS: Mapping[Dimension, float] = {}
_INTENT_GATES: Mapping[Intent, Gate] = {
    intent: Gate(name="intent", passed=intent == "actionable", note=intent)
    for intent in get_args(Intent)
}


@dataclass(frozen=True, slots=True)
class Assessment:
    """How much an event matters, and which gate it failed, if one."""

    salience: Salience
    gates: tuple[Gate, ...]
    silence: Silence | None

    @property
    def is_threat(self) -> bool:
        """Whether the event passes whatever else holds."""
        return self.salience.dimensions.get("threat", 0.0) >= THREAT_ALWAYS_PASSES


def assess(
    state: AgentState,
    settings: MindSettings,
    appearance: Appearance,
    event: Sensed,
    vector: Vector | None,
) -> Assessment:
    """Weigh an event and hold it against the gates of intent, relevance and habituation."""
    domain = appearance.domain
    salience = _salience(state, appearance, event, vector)
    intent = _intent_gate(event)
    if not intent.passed:
        return Assessment(salience, (intent,), "informational")
    threshold = _relevance_threshold(settings, domain)
    always = salience.dimensions.get("threat", 0.0) >= THREAT_ALWAYS_PASSES
    relevance = _gate("relevance", salience.score, threshold, always)
    habituation = _gate("habituation", salience.effective, threshold, always)
    silence: Silence | None = None
    if not relevance.passed:
        silence = "below_relevance"
    elif not habituation.passed:
        silence = "habituated"
    return Assessment(salience, (intent, relevance, habituation), silence)


def novelty(memory: SourceMemory | None, vector: Vector | None) -> float:
    """1 minus the highest cosine to the source's last events; 1 for the first of them."""
    if vector is None or memory is None:
        return 1.0
    nearest = vectors.nearest(memory.recent, vector)
    return round6(clamp(1.0 - nearest[1], 0.0, 1.0)) if nearest else 1.0


def _salience(
    state: AgentState, appearance: Appearance, event: Sensed, vector: Vector | None
) -> Salience:
    domain = appearance.domain
    dimensions = _dimensions(state, domain, event, vector)
    score = _weighted_mean(dimensions, _weights(domain))
    habit, now = appearance.habit, state.now
    sensitivity = habits.sensitivity(habit, now, domain.tau_s) if now else 1.0
    return Salience(
        dimensions=dimensions,
        score=score,
        sensitivity=sensitivity,
        effective=round6(score * sensitivity),
    )


def _dimensions(
    state: AgentState, domain: Domain, event: Sensed, vector: Vector | None
) -> dict[Dimension, float]:
    defaults = domain.event_type.salience if domain.event_type else {}
    values: dict[Dimension, float] = {**defaults, **event.salience}
    values.setdefault("novelty", novelty(state.sources.get(event.source), vector))
    return {name: round6(values[name]) for name in sorted(values)}


def _weights(domain: Domain) -> Mapping[Dimension, float]:
    return domain.pack.pack.salience.weights if domain.pack else _NO_WEIGHTS


def _weighted_mean(
    values: Mapping[Dimension, float], weights: Mapping[Dimension, float]
) -> float:
    whole = total(weights.get(name, 1.0) for name in values)
    if not whole:
        return 0.0
    weighted = total(weights.get(name, 1.0) * value for name, value in values.items())
    return round6(weighted / whole)


def _intent_gate(event: Sensed) -> Gate:
    # A report on advice is information unless its sensor says otherwise.
    intent = event.intent or ("informational" if event.in_reply_to else "actionable")
    return _INTENT_GATES[intent]


def _relevance_threshold(settings: MindSettings, domain: Domain) -> float:
    own = domain.pack.pack.salience.threshold if domain.pack else None
    return settings.relevance if own is None else own


def _gate(name: str, value: float, threshold: float, always: bool) -> Gate:
    threshold = round6(threshold)
    return Gate(
        name=name,
        passed=always or value >= threshold,
        value=value,
        threshold=threshold,
        margin=round6(value - threshold),
        note="a threat always passes" if always else None,
    )
