"""A challenger's own life over a recording, as far as the document needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.compare.behaviour import Act

Curve = tuple[tuple[str, float], ...]
"""Times and the confidence from each on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What a challenger did while it lived with its own consequences."""

    acts: tuple[Act, ...]
    compared: int
    """Decisions that reached a strategy both here and at logged state."""
    drifted: int
    """Those of them that came out otherwise than at logged state."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """What sort of arm it took, by event."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What a model says for it, by the recorded decision's id, as far as known."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """Confidence of each heuristic over time."""
    hits: int = 0
    misses: int = 0
    """Requests whose answer the recording held, or not."""
    watermark: str | None = None
    """Says that words came about which nobody said."""
