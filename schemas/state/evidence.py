"""Evidence: signals about one content of a heuristic, and the belief they amount to.

Confidence is Beta-Bernoulli: a prior worth `kappa` observations around the declared
confidence, to which each signal adds its weight as success or failure.
"""

from datetime import datetime
from typing import Literal, TypeAlias

from immutables import Map
from msgspec import Struct

from schemas.state.recency import Recent
from schemas.values.bounded_map import EMPTY

SignalKind: TypeAlias = Literal["implicit", "explicit", "endorsement", "ignored"]


class Signal(Struct, frozen=True, kw_only=True):
    """One entry of the evidence on a heuristic."""

    place: int
    """The sequence of the input that first gave it; a changed vote keeps it."""
    fire_id: str
    """The fire it is about; for a vote on the heuristic itself `direct`, for what a
    model's answer shows the decision."""
    kind: SignalKind
    value: float
    """0 failure to 1 success."""
    votes: Map[str, float] = EMPTY
    """Explicit: each actor's latest vote, -1 to 1; `value` is their mean on 0 to 1."""
    bases: Map[str, float] = EMPTY
    """Explicit: each actor's average vote when they voted, -1 to 1."""
    ages: Map[str, float] = EMPTY
    """Explicit: how many seconds after the decision each actor voted, where known."""
    is_models: bool = False
    """Explicit: whether the words that were judged were a model's."""
    similarity: float = 1.0
    """Endorsement: the cosine of the texts, to which its weight is proportional."""
    is_second: bool = False
    """Whether another signal on its fire is settled: that fire is already counted."""


class Belief(Struct, frozen=True, kw_only=True):
    """The belief about one content of one heuristic."""

    declared: float
    confidence: float
    alpha: float
    """Prior and successes as pseudo-counts; the mean of Beta(alpha, beta) is the
    confidence."""
    beta: float
    """Prior and failures."""
    settled_alpha: float
    """Prior and settled evidence, too old to change, as pseudo-counts."""
    settled_beta: float
    settled_endorsed: float = 0.0
    """The share of settled evidence that is endorsement, which has a cap of its own."""
    settled_successes: int = 0
    signals: tuple[Signal, ...] = ()
    """The newest evidence, in order of place."""
    fire_count: int = 0
    success_count: int = 0
    last_fired: datetime | None = None
    ignored: int = 0
    """How many fires in a row had no effect and no vote, since this last counted."""
    settled_approvals: int = 0
    """How many of the settled votes were approvals."""
    trials: int = 0
    """How often it was released, and its evidence began anew."""
    recent: Recent | None = None
    """Its latest fires and last success; None in a state of before they were kept."""


class Prior(Struct, frozen=True, kw_only=True):
    """The Beta prior of heuristics of one origin, before any evidence."""

    kappa: float
    """The weight of the prior, in observations."""
    mean: float | None = None
    """The success rate to start from; None: what each heuristic declares."""


def belief_key(heuristic_id: str, content_hash: str) -> str:
    """Return the key of the belief about this content of a heuristic."""
    return f"{heuristic_id}@{content_hash}"
