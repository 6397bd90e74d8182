"""Withholding: which known answers a model is shown, and which are kept from it.

An answer that is not trusted yet is kept back at random: if the model then says the same,
it said so by itself, and that alone is evidence for the answer (ADR 0009).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from schemas.messages.decisions import Candidate
from schemas.ports.decision_context import HeuristicCandidate


@dataclass(frozen=True, slots=True)
class _Shown:
    """The candidates of a prompt, in its order, and those kept from it."""

    candidates: tuple[HeuristicCandidate, ...]
    withheld: Mapping[str, bool]
    """By arm, whether a candidate that might have been in it was kept back."""


def shown(
    candidates: Sequence[HeuristicCandidate],
    drawn: Callable[[str], float],
    *,
    most: int,
    rate: float,
    trusted: float,
) -> _Shown:
    """Return which of the candidates, the best first, a model is shown.

    At most `most` of them; each whose confidence is below `trusted` is withheld with
    probability `rate`. `drawn` is the keyed draw in [0, 1) for a purpose.
    """
    first = candidates[:most]
    # One keyed draw for each candidate, recorded: endorsement counts what was not shown.
    withheld = {
        each.arm: drawn(f"withhold/{each.heuristic_id}") < rate
        for each in first
        if rate and each.confidence < trusted
    }
    # Shuffled by draws, so that a position in the prompt favours no candidate.
    ordered = sorted(
        (each for each in first if not withheld.get(each.arm)),
        key=lambda each: (drawn(f"order/{each.heuristic_id}"), each.heuristic_id),
    )
    return _Shown(tuple(ordered), withheld)


def marked(
    candidates: tuple[Candidate, ...], withheld: Mapping[str, bool]
) -> tuple[Candidate, ...]:
    """Return recorded candidates, each marked by whether a draw withheld it."""
    if not withheld:
        return candidates
    return tuple(
        structs.replace(each, withheld=withheld.get(each.arm)) for each in candidates
    )
