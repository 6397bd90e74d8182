"""Conditions on a comparison under which a build fails, such as `regressed>0,flips>20`.

A name is a count of flips (`flips`, `regressed`, …), a fact's change (`model_calls`,
`spoke`, …) or its value where it is of both sides at once (`agreement`, `drift`), or
`verdict`, which is compared with a word.
"""

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evaluation.compare.document import Comparison, Fact
from evaluation.ope.verdicts import Verdict

_FORM = re.compile(r"\s*([a-z_0-9]+)\s*(>=|<=|!=|>|<|=)\s*([-+A-Za-z_0-9.]+)\s*")
_TESTS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
_OF_BOTH = ("agreement", "drift")
"""Facts of the two together: they have a value and no change."""
_COUNTED = ("regressed", "improved", "unobserved", "unsupported")


class FailOnError(ValueError):
    """A condition cannot be understood, or names what a comparison does not have."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the conditions."""

    name: str
    relation: str
    limit: str

    def __str__(self) -> str:
        """Return the condition as it is written."""
        return f"{self.name}{self.relation}{self.limit}"


def parse(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a text; they are separated by commas.

    Raises:
        FailOnError: one is not of the form `name>number` or `verdict=WORD`.
    """
    conditions = []
    for part in text.split(","):
        found = _FORM.fullmatch(part)
        if found is None:
            raise FailOnError(
                f"--fail-on {part.strip()!r} is no condition: write for example"
                " 'regressed>0' or 'verdict=WORSE'"
            )
        condition = Condition(*found.groups())
        _check(condition)
        conditions.append(condition)
    return tuple(conditions)


def tripped(
    conditions: tuple[Condition, ...], comparison: Comparison
) -> tuple[str, ...]:
    """Return the conditions that hold, each with the challenger and the value it has.

    Raises:
        FailOnError: a condition names nothing that this comparison has.
    """
    known = _known(comparison)
    return tuple(
        f"{condition}: {comparison.challenger.label} has {value}"
        for condition in conditions
        if (value := _value(condition, comparison, known)) is not None
    )


def _value(
    condition: Condition, comparison: Comparison, known: Mapping[str, float | None]
) -> str | None:
    """Return what trips the condition; None if it does not hold."""
    if condition.name == "verdict":
        same = comparison.verdict == condition.limit.upper()
        return comparison.verdict if same == (condition.relation == "=") else None
    if condition.name not in known:
        near = difflib.get_close_matches(condition.name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        names = ", ".join(["verdict", *sorted(known)])
        raise FailOnError(
            f"--fail-on {condition.name!r} is not known, there are {names}{hint}"
        )
    value = known[condition.name]
    # A withheld or unknown value trips nothing: a build must not fail on a guess.
    if value is None:
        return None
    holds = _TESTS[condition.relation](value, float(condition.limit))
    return f"{value:g}" if holds else None


def _known(comparison: Comparison) -> dict[str, float | None]:
    # Statuses without a flip are missing in the counts and count 0.
    return {
        "flips": float(comparison.flips_total),
        **dict.fromkeys(_COUNTED, 0.0),
        **comparison.flip_counts,
        **{fact.name: _compared(fact) for fact in comparison.facts},
        "success": comparison.estimate.difference.dr,
    }


def _compared(fact: Fact) -> float | None:
    return fact.challenger if fact.name in _OF_BOTH else fact.delta


def _check(condition: Condition) -> None:
    if condition.name == "verdict":
        if condition.relation not in ("=", "!="):
            raise FailOnError(f"--fail-on {condition}: compare a verdict by = or !=")
        if condition.limit.upper() not in tuple(Verdict):
            raise FailOnError(
                f"--fail-on {condition}: there is no verdict {condition.limit!r}, there"
                f" are {', '.join(Verdict)}"
            )
        return
    try:
        float(condition.limit)
    except ValueError as error:
        raise FailOnError(
            f"--fail-on {condition}: {condition.limit!r} is no number"
        ) from error
