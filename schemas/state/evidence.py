"""Evidence: the signals on one content of a heuristic, and what is believed by them."""

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
    """Explicit: what each actor used to say of anything when they voted, -1 to 1."""
    ages: Map[str, float] = EMPTY
    """Explicit: how many seconds after the decision each actor voted, where known."""
    is_models: bool = False
    """Explicit: whether the words that were judged were a model's."""
    similarity: float = 1.0
    """Endorsement: how alike the words were, which its weight is by."""
    is_second: bool = False
    """Whether another signal on its fire is settled: how that went is counted."""


class Belief(Struct, frozen=True, kw_only=True):
    """What is believed of one content of one heuristic."""

    declared: float
    confidence: float
    alpha: float
    """Prior and successes as pseudo-counts; the mean of Beta(alpha, beta) is the
    confidence."""
    beta: float
    """Prior and failures."""
    settled_alpha: float
    """Prior and the evidence too old to change, as pseudo-counts."""
    settled_beta: float
    settled_endorsed: float = 0.0
    """What of the old evidence is endorsement, which has a cap of its own."""
    settled_successes: int = 0
    signals: tuple[Signal, ...] = ()
    """The newest evidence, in order of place."""
    fire_count: int = 0
    success_count: int = 0
    last_fired: datetime | None = None
    ignored: int = 0
    """Of how many fires in a row nothing came, since that last counted."""
    settled_approvals: int = 0
    """How many of the old votes were approvals."""
    trials: int = 0
    """How often it was revived, and its evidence began anew."""
    recent: Recent | None = None
    """Its latest fires and last success; None in a state of before they were kept."""


class Prior(Struct, frozen=True, kw_only=True):
    """What heuristics of one origin are believed to be worth before any evidence."""

    kappa: float
    """The weight of the prior, in observations."""
    mean: float | None = None
    """The success to start from; None is what each one's author declared."""


def belief_key(heuristic_id: str, content_hash: str) -> str:
    """Under which key the belief on this content of a heuristic stands."""
    return f"{heuristic_id}@{content_hash}"
