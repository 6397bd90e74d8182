"""Sums: of which recorded terms the numbers of the relevance gates are made.

Pure, over what was recorded (`handlers.mind.stages.relevance` weighs). The terms of a sum
add up to its total, within the rounding to six decimals; what a limit took off is a term.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.mind.stages.relevance import LEAST, MOST
from schemas.messages.decisions import Decided, Gate, Relevance
from schemas.values.exact_math import round6, total

_SUMMED = ("relevance", "habituation")
"""The gates whose value is a sum."""
_EVEN = 0.000002
"""What six decimals of a few terms may be off by."""


@dataclass(frozen=True, slots=True)
class _Term:
    """One term of a sum."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Sum:
    """A number of a gate, and the terms that add up to it."""

    of: str
    """The gate, or the `threshold` of both."""
    terms: tuple[_Term, ...]
    total: float

    @property
    def is_told(self) -> bool:
        """Whether it is more than its first term."""
        return any(each.value for each in self.terms[1:])


def sums(decided: Decided) -> tuple[Sum, ...]:
    """Return the sums of the gates that an event's relevance was held against."""
    return tuple(_sums(decided))


def added(weighed: Relevance | None) -> float:
    """Return what was added to salience."""
    return 0.0 if weighed is None else total(weighed.terms.values())


def but_for_what_was_said(decided: Decided) -> str:
    """Return that it would have passed had nothing like it been said, if that is so."""
    weighed = decided.relevance
    if weighed is None or not weighed.already_said:
        return ""
    held = [gate for gate in decided.gates if gate.name in _SUMMED and not gate.passed]
    closed = [gate for gate in decided.gates if not gate.passed]
    without = [(gate.value or 0.0) - weighed.already_said for gate in held]
    if len(held) < len(closed) or min(without) < weighed.threshold:
        return ""
    return (
        f" A like event was answered lately ({weighed.already_said:+.2f}); without that it"
        " would have passed."
    )


def _sums(decided: Decided) -> Iterator[Sum]:
    held = [each for each in decided.gates if each.name in _SUMMED]
    weighed = decided.relevance
    moved = weighed.terms if weighed is not None else {}
    for gate in held:
        if gate.value is not None:
            terms = (_Term(name, value) for name, value in moved.items())
            yield _sum(gate.name, (_salience(decided, gate), *terms), gate.value)
    if held and weighed is not None:
        yield _threshold(weighed)


def _threshold(weighed: Relevance) -> Sum:
    whole = weighed.threshold
    # At an end what the sum was before is not recorded.
    if whole in (LEAST, MOST):
        return Sum("threshold", (_Term("limit of all thresholds", whole),), whole)
    usual = round6(whole - (weighed.raises + weighed.by_traits))
    moves = (_Term("raised", weighed.raises), _Term("character", weighed.by_traits))
    return _sum("threshold", (_Term("usual", usual), *moves), whole)


def _salience(decided: Decided, gate: Gate) -> _Term:
    salience = decided.salience
    if gate.name == "relevance":
        return _Term("salience", salience.score)
    return _Term("salience after habituation", salience.effective)


def _sum(of: str, terms: tuple[_Term, ...], whole: float) -> Sum:
    # Beyond 0 and 1 nothing counts: the rest is a term, so that the sum is true.
    beyond = round6(whole - total(each.value for each in terms))
    if abs(beyond) > _EVEN:
        terms = (*terms, _Term("kept within 0 and 1 by", beyond))
    return Sum(of, terms, whole)
