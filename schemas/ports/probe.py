"""The probe: the mind says which stage it enters, and is told nothing in return.

Whoever drives the mind may time its stages by it; a replay does not (ADR 0033).
"""

from collections.abc import Callable
from typing import Literal

Stage = Literal[
    "outcomes", "salience", "gate", "consult", "match", "choose", "messages"
]
"""A stage of a decision, in order; each ends where the next begins, the last with the
group's bytes."""

Probe = Callable[[Stage], None]
"""Called when a stage begins. It returns nothing, and what it raises is dropped: time must
not reach a decision."""


def unprobed(_: Stage) -> None:
    """Ignore the stage: the default."""
