"""Suppositions: the recorded gates of a decision, recomputed with other numbers.

Pure, over what was recorded; the decision itself is not made again here.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor

from msgspec import structs

from echoic.errors import EchoicError, meant
from echoic.explain.sums import added
from handlers.mind.strategies.heuristic_first import SAFE_THRESHOLDS
from schemas.messages.decisions import Decided, Gate
from schemas.values.exact_math import clamp, round6
from schemas.values.reasons import GATES


def suppose(decided: Decided, suppositions: Mapping[str, float]) -> tuple[Gate, ...]:
    """Return the recorded gates, recomputed with other numbers.

    `threshold` is that of confidence, `relevance` that of both salience gates, `salience`
    and `confidence` are values; any other gate's name stands for its threshold.

    Raises:
        EchoicError: no recorded gate has such a number.
    """
    gates = decided.gates
    for name, number in suppositions.items():
        changed = tuple(_changed(gate, decided, name, number) for gate in gates)
        # A number equal to the recorded one changes nothing, and yet is no mistake.
        if changed == gates and not any(_concerns(gate, name) for gate in gates):
            known = sorted({each for gate in gates for each in _numbers_of(gate)})
            raise EchoicError(
                f"{name!r} is no number that this decision was tested by"
                + meant(name, known),
                next_step="--what-if with one of: " + (", ".join(known) or "nothing"),
            )
        gates = changed
    return gates


def opening(decided: Decided) -> tuple[str, float] | None:
    """Return the name and two-digit value of a number that would open every gate."""
    closed = [gate for gate in decided.gates if not gate.passed]
    # Thresholds are rounded down and values up, so that two digits are always enough to
    # pass; `round6` first, or 0.29 * 100 = 28.999… would lose a whole step.
    lowest = min((gate.value for gate in closed if gate.value is not None), default=0.0)
    for name, number in (
        ("relevance", floor(round6(100 * lowest)) / 100),
        ("threshold", floor(round6(100 * lowest)) / 100),
        *(
            (name, floor(round6(100 * lowest)) / 100)
            for name in GATES
            if GATES[name].in_seconds
        ),
        ("confidence", ceil(round6(100 * _highest(closed))) / 100),
    ):
        concerned = any(_concerns(gate, name) for gate in closed)
        if concerned and all(gate.passed for gate in suppose(decided, {name: number})):
            return name, number
    return None


def _highest(gates: Sequence[Gate]) -> float:
    return max((gate.threshold or 0.0 for gate in gates), default=0.0)


def _concerns(gate: Gate, name: str) -> bool:
    return name in _numbers_of(gate)


def _numbers_of(gate: Gate) -> tuple[str, ...]:
    """Return the names under which a gate's numbers can be supposed."""
    if gate.value is None or gate.threshold is None:
        return ()
    return {
        "relevance": ("relevance", "salience"),
        "habituation": ("relevance", "salience", "sensitivity"),
        "confidence": ("threshold", "confidence"),
    }.get(gate.name, (gate.name,))


def _changed(gate: Gate, decided: Decided, name: str, number: float) -> Gate:
    if not _concerns(gate, name):
        return gate
    value, threshold = gate.value or 0.0, gate.threshold or 0.0
    salience, further = decided.salience, added(decided.relevance)
    match gate.name, name:
        case "relevance", "salience":
            value = clamp(number + further, 0.0, 1.0)
        case "habituation", "salience":
            # As the mind computes effective salience: the score times the sensitivity.
            value = clamp(round6(number * salience.sensitivity) + further, 0.0, 1.0)
        case "habituation", "sensitivity":
            value = clamp(round6(salience.score * number) + further, 0.0, 1.0)
        case "confidence", "confidence":
            value = number
        case "confidence", "threshold":
            # The strategy clamps its threshold in the same way.
            threshold = clamp(number, *SAFE_THRESHOLDS)
        case _:
            threshold = number
    value, threshold = round6(value), round6(threshold)
    # A gate that passed below its threshold passed for another reason, which still holds.
    excused = gate.passed and (gate.margin or 0.0) < 0
    return structs.replace(
        gate,
        passed=excused or value >= threshold,
        value=value,
        threshold=threshold,
        margin=round6(value - threshold),
    )
