"""The type of a goal, and of how it ends."""

from collections.abc import Generator
from dataclasses import dataclass

from packs.survival.sensor.routes import Action
from packs.survival.sensor.world import Observation
from schemas.values.reasons import ReportedOutcome


@dataclass(frozen=True, slots=True)
class End:
    """How a goal ended, and why in a few words."""

    outcome: ReportedOutcome
    reason: str


Goal = Generator[Action, Observation, End]
"""A generator that is sent observations, yields actions, and returns how it ended."""


def succeeded(reason: str) -> End:
    """Return the end of a goal that was reached; `reason` continues "the player …"."""
    return End("succeeded", reason)


def failed(reason: str) -> End:
    """Return the end of a goal that was not reached, because of `reason`."""
    return End("failed", reason)
