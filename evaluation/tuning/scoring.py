"""Score recorded and changed learning settings on the same fires.

A fire's prediction is the confidence at the time its action was shown, before its outcome
was known; fires are scored in order of time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from evaluation.evidence.facts import Evidence
from evaluation.evidence.refold import Curve, Prediction, curves, predictions
from evaluation.ope.calibration import Calibration, calibration, prequential
from schemas.values.base import Scalar
from schemas.values.settings_by_name import learning_value

_SEED = "reliability"
"""The key of the draws behind a null band."""


@dataclass(frozen=True, slots=True)
class Score:
    """How good the predictions under one choice of settings were."""

    brier: float
    skill: float | None
    """Prequential Brier skill, against the running base rate."""
    reliability: Calibration


@dataclass(frozen=True, slots=True)
class Curves:
    """What was believed of one heuristic, and what would have been."""

    agent: str
    heuristic_id: str
    content_hash: str
    name: str
    fires: int
    """Of which the end is known."""
    recorded: Curve
    retuned: Curve


@dataclass(frozen=True, slots=True)
class Retuning:
    """Recorded and changed settings on the same evidence."""

    changes: Mapping[str, tuple[tuple[float, ...], Scalar]]
    """By name: every value that was in force at the start of a stretch, and the new."""
    sessions: int
    predictions: int
    recorded: Score | None
    """None where the end of no fire is known."""
    retuned: Score | None
    curves: tuple[Curves, ...]

    def as_json(self) -> dict[str, object]:
        """Return the retuning as JSON's types."""
        return {
            "v": 1,
            "changes": {
                name: {"before": list(before), "after": after}
                for name, (before, after) in self.changes.items()
            },
            "sessions": self.sessions,
            "predictions": self.predictions,
            "recorded": self.recorded and asdict(self.recorded),
            "retuned": self.retuned and asdict(self.retuned),
            "heuristics": [_curve_fields(each) for each in self.curves],
        }


def retuned(evidence: Sequence[Evidence], changes: Mapping[str, Scalar]) -> Retuning:
    """Fold all evidence under the recorded settings and under the changed ones, and score both.

    Raises:
        TuningError: there is no such setting, or it cannot have such a value.
    """
    # Prequential scores depend on the order of predictions: it is that of time, and the
    # agent decides between stretches that began together.
    stretches = sorted(evidence, key=lambda each: (each.began_ns, each.agent))
    old = [predictions(each, {}) for each in stretches]
    new = [predictions(each, changes) for each in stretches]
    return Retuning(
        changes={name: (_before(stretches, name), changes[name]) for name in changes},
        sessions=len({(each.agent, each.session) for each in stretches}),
        predictions=sum(map(len, old)),
        recorded=score(_flat(old)),
        retuned=score(_flat(new)),
        curves=tuple(_curves(stretches, changes, _flat(old))),
    )


def score(made: Sequence[Prediction]) -> Score | None:
    """Return how good predictions were, in the order of time."""
    if not made:
        return None
    predicted = [each.predicted for each in made]
    happened = [each.happened for each in made]
    so_far = prequential(predicted, happened)
    return Score(
        brier=float(so_far.brier[-1]),
        skill=so_far.skill,
        reliability=calibration(predicted, happened, seed=_SEED),
    )


def _before(evidence: Iterable[Evidence], name: str) -> tuple[float, ...]:
    return tuple(sorted({learning_value(each.learning, name) for each in evidence}))


def _flat(made: Iterable[tuple[Prediction, ...]]) -> list[Prediction]:
    return [prediction for part in made for prediction in part]


def _curves(
    stretches: Sequence[Evidence],
    changes: Mapping[str, Scalar],
    made: Sequence[Prediction],
) -> Iterator[Curves]:
    old: dict[tuple[str, str], Curve] = {}
    new: dict[tuple[str, str], Curve] = {}
    names: dict[str, str] = {}
    for each in stretches:
        names.update(each.names)
        for joined, found in ((old, curves(each, {})), (new, curves(each, changes))):
            for key, curve in found.items():
                place = each.agent, key
                # Stretches come in order of time, so a heuristic's curve goes
                # on where the last one ended.
                earlier = joined[place].points if place in joined else ()
                joined[place] = Curve((*earlier, *curve.points), curve.lifecycle)
    for agent, key in sorted(old):
        heuristic_id, _, content_hash = key.rpartition("@")
        yield Curves(
            agent=agent,
            heuristic_id=heuristic_id,
            content_hash=content_hash,
            name=names.get(heuristic_id, heuristic_id),
            fires=sum(each.key == key for each in made),
            recorded=old[agent, key],
            retuned=new[agent, key],
        )


def _curve_fields(found: Curves) -> dict[str, object]:
    return {
        "agent": found.agent,
        "heuristic_id": found.heuristic_id,
        "content_hash": found.content_hash,
        "name": found.name,
        "fires": found.fires,
        "recorded": _points(found.recorded),
        "retuned": _points(found.retuned),
    }


def _points(curve: Curve) -> dict[str, object]:
    points = [[point.sequence, point.confidence] for point in curve.points]
    return {"points": points, "final": points[-1][1], "lifecycle": curve.lifecycle}
