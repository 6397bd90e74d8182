"""What an autonomous character did, how it ended, and what it learnt of it."""

from datetime import datetime
from typing import Literal

from immutables import Map
from msgspec import Struct

from schemas.values.bounded_map import EMPTY
from schemas.values.exact_math import round6

Ending = Literal["succeeded", "failed", "overridden", "cancelled", "unknown"]
"""How an action ended; of one that is `unknown` nobody can tell what it came to."""


Chooser = Literal["model", "routine", "random", "reflection"]
"""Who chose an action; a reflection is none, and stands among the insights."""


class Act(Struct, frozen=True, kw_only=True):
    """An action of an autonomous character, and how it ended: an episode."""

    decision_id: str
    at: datetime
    action: str
    target: str | None = None
    by: Chooser
    situation: str
    """The fingerprint of the moment: the body's state, what is near, what it did lately."""
    importance: float = 0.0
    outcome: Ending | None = None
    """None: it goes on; `unknown`: it proves nothing, or the world never told."""
    thought: str = ""
    reasoning: str = ""
    position: tuple[float, ...] = ()
    error: str = ""
    """What the world said of its failure."""
    weighed: tuple[tuple[str, float], ...] = ()
    """Of what was drawn: each kind that was possible, and its probability; kept only where
    a review may ask what other weights would have come to."""
    is_empty: bool = False
    """Whether it changes nothing where it is done, so that its end proves nothing."""


class Routine(Struct, frozen=True, kw_only=True):
    """What worked in a situation."""

    action: str
    target: str | None = None
    uses: int = 1
    successes: int = 1

    @property
    def rate(self) -> float:
        """The share of uses that succeeded, to six decimals."""
        return round6(self.successes / self.uses)


class Autonomy(Struct, frozen=True, kw_only=True):
    """What an autonomous character did, and learnt of it."""

    count: int = 0
    """How often it decided by itself: the counter of its draws."""
    acts: tuple[Act, ...] = ()
    """The latest, oldest first; only the last may go on."""
    routines: Map[str, Routine] = EMPTY
    """By situation."""
    retries: int = 0
    """How many decisions in a row were about a failure."""
    insights: tuple[Act, ...] = ()
    """What it found when it looked back, as its thought; oldest first."""
    reflected: str = ""
    """The decision of the latest action that it reflected on."""
    reviewed: int = 0
    """How often it had decided when its model last judged that."""
    weights: Map[str, float] = EMPTY
    """Of kinds of action, in the place of its pack's; by proposals, as the next two."""
    learned: tuple[str, ...] = ()
    """What it knows of its world besides what its pack says."""
    unlearned: tuple[str, ...] = ()
    """What its pack says and it knows no more."""


UNDECIDED = Autonomy()
"""Of a character that is not autonomous, or did nothing yet."""
