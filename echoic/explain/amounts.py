"""Amounts in words: what a gate was held against, and lengths of time."""

from schemas.values.reasons import GATES

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def amount(gate: str, value: float, sign: str = "") -> str:
    """Return a number of a gate: `0.45`, or a time such as `10 min`; `sign` may be `+`."""
    if gate not in GATES or not GATES[gate].in_seconds:
        return f"{value:{sign}.2f}"
    # Below a minute fractions count: 3.9 s is less than 4 s.
    if abs(value) < 60.0:
        return f"{round(value, 2):{sign}g} s"
    before = "-" if value < 0 else sign
    return before + span(abs(value))


def span(seconds: float) -> str:
    """Return a length of time by its largest unit and the next: `2 h 5 min`, `10 min`."""
    left = max(0, round(seconds))
    first = next((i for i, (size, _) in enumerate(_UNITS) if left >= size), 3)
    parts = []
    for size, unit in _UNITS[first : first + 2]:
        parts.append(f"{left // size} {unit}")
        left %= size
    return " ".join(each for each in parts if each[0] != "0") or "0 s"
