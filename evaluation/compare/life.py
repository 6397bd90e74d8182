"""The summary of a challenger's own life (closed-loop run) over a recording."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from evaluation.compare.behaviour import Act
from evaluation.compare.charts import Curve
from evaluation.evidence.facts import Evidence
from evaluation.evidence.refold import curves
from replay.recording.recorded_decisions import RecordedDecisions
from schemas.values.base import rfc3339


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What a challenger did while its state followed from its own decisions."""

    acts: tuple[Act, ...]
    compared: int
    """Decisions that reached a strategy both here and at the logged state."""
    drifted: int
    """Those of them whose arm the challenger would not take at the logged state."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """The class of the arm it took, by event id."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What it said, by the recorded decision's id, as far as known."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """Confidence of each heuristic over time."""
    hits: int = 0
    misses: int = 0
    """Requests whose answer the recording held, or not."""
    watermark: str | None = None
    """A notice for documents that hold words nobody ever said."""


def believed(
    evidence: Sequence[Evidence], recorded: RecordedDecisions
) -> tuple[Mapping[str, Curve], Mapping[str, str]]:
    """Return the recorded curves and the names, by heuristic id."""
    times = _Times(recorded)
    found: dict[str, list[tuple[str, float]]] = {}
    names: dict[str, str] = {}
    for part in evidence:
        for key, curve in curves(part, {}).items():
            id_ = key.rpartition("@")[0]
            points = [
                (times.at(each.sequence), each.confidence) for each in curve.points
            ]
            found.setdefault(id_, []).extend(points)
            names[id_] = part.names.get(id_, id_)
    return {id_: tuple(points) for id_, points in found.items()}, names


class _Times:
    """The agent's time at a place in the recording: that of the last decision by then."""

    def __init__(self, recorded: RecordedDecisions) -> None:
        self._sequences = [each.sequence for each in recorded.records]
        self._times: list[datetime] = [each.at for each in recorded.records]

    def at(self, sequence: int) -> str:
        """Return the time as RFC 3339; before the first decision it is that decision's."""
        index = max(0, bisect_right(self._sequences, sequence) - 1)
        return rfc3339(self._times[index])
