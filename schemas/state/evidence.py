"""Evidence: signals about one content of a heuristic, and the belief they amount to.

Confidence is Beta-Bernoulli: a prior worth `kappa` observations around the declared
confidence, to which each signal adds its weight as success or failure.
"""

from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from immutables import Map
from msgspec import Struct, field
from msgspec.structs import replace

from schemas.state import limits
from schemas.values.bounded_map import EMPTY, Bounded


class Recent(Struct, frozen=True, kw_only=True):
    """When a heuristic last fired, and when it last succeeded."""

    fires: tuple[datetime, ...] = ()
    """When its action was last shown, oldest first."""
    succeeded_at: datetime | None = None
    """When an outcome or a vote last counted as its success."""
    succeeded_by: str = ""
    """The fire that succeeded."""

    def after_fire(self, at: datetime) -> "Recent":
        """Return the recency after a fire at `at`."""
        # The latest only, so that a busy heuristic's state does not grow with its fires.
        return replace(self, fires=(*self.fires, at)[-limits.RECENT_FIRES :])

    def after_outcome(self, fire_id: str, is_success: bool, at: datetime) -> "Recent":
        """Return the recency after an outcome or a vote on a fire; the newest holds.

        A failure revokes the success of the same fire; successes before it are not kept, so
        there is none then.
        """
        if is_success:
            return replace(self, succeeded_at=at, succeeded_by=fire_id)
        if self.succeeded_by != fire_id:
            return self
        return replace(self, succeeded_at=None, succeeded_by="")

    def fires_within(self, seconds: float, now: datetime) -> int:
        """Return how many of the remembered fires are at most so many seconds old."""
        # An event clock may go back: fires that lie ahead of `now` do not count.
        span = timedelta(seconds=seconds)
        return sum(1 for at in self.fires if timedelta() <= now - at <= span)

    def succeeded_within(self, seconds: float, now: datetime) -> bool:
        """Tell whether the last success is at most so many seconds old."""
        at = self.succeeded_at
        return at is not None and timedelta() <= now - at <= timedelta(seconds=seconds)


NEVER = Recent()
"""Of a heuristic that has not fired."""


SignalKind: TypeAlias = Literal["implicit", "explicit", "endorsement", "ignored"]


class Signal(Struct, frozen=True, kw_only=True):
    """One entry of the evidence on a heuristic."""

    place: int
    """The sequence of the input that first gave it; a changed vote keeps it."""
    fire_id: str
    """The fire it is about; for a vote on the heuristic itself `direct`, for what a
    model's answer shows the decision."""
    kind: SignalKind
    value: float
    """0 failure to 1 success."""
    votes: Map[str, float] = EMPTY
    """Explicit: each actor's latest vote, -1 to 1; `value` is their mean on 0 to 1."""
    bases: Map[str, float] = EMPTY
    """Explicit: each actor's average vote when they voted, -1 to 1."""
    ages: Map[str, float] = EMPTY
    """Explicit: how many seconds after the decision each actor voted, where known."""
    is_models: bool = False
    """Explicit: whether the words that were judged were a model's."""
    similarity: float = 1.0
    """Endorsement: the cosine of the texts, to which its weight is proportional."""
    share: float = 1.0
    """Explicit: by which share it counts, as several answers were said as one."""
    is_second: bool = False
    """Whether another signal on its fire is settled: that fire is already counted."""


class Belief(Struct, frozen=True, kw_only=True):
    """The belief about one content of one heuristic."""

    declared: float
    confidence: float
    alpha: float
    """Prior and successes as pseudo-counts; the mean of Beta(alpha, beta) is the
    confidence."""
    beta: float
    """Prior and failures."""
    settled_alpha: float
    """Prior and settled evidence, too old to change, as pseudo-counts."""
    settled_beta: float
    settled_endorsed: float = 0.0
    """The share of settled evidence that is endorsement, which has a cap of its own."""
    settled_successes: int = 0
    signals: tuple[Signal, ...] = ()
    """The newest evidence, in order of place."""
    fire_count: int = 0
    success_count: int = 0
    last_fired: datetime | None = None
    ignored: int = 0
    """How many fires in a row had no effect and no vote, since this last counted."""
    settled_approvals: int = 0
    """How many of the settled votes were approvals."""
    trials: int = 0
    """How often it was released, and its evidence began anew."""
    recent: Recent | None = None
    """Its latest fires and last success; None in a state of before they were kept."""


class Prior(Struct, frozen=True, kw_only=True):
    """The Beta prior of heuristics of one origin, before any evidence."""

    kappa: float
    """The weight of the prior, in observations."""
    mean: float | None = None
    """The success rate to start from; None: what each heuristic declares."""


def belief_key(heuristic_id: str, content_hash: str) -> str:
    """Return the key of the belief about this content of a heuristic."""
    return f"{heuristic_id}@{content_hash}"


class Rater(Struct, frozen=True, kw_only=True):
    """One person's habit of judging; `total / count` is the average vote."""

    count: int = 0
    """On how many decisions and heuristics."""
    total: float = 0.0
    """The sum of the latest vote on each, from -1 to 1."""
    votes: Bounded[str, float] = field(
        default_factory=lambda: Bounded(limits.VOTES_OF_PERSON)
    )
    """By what they are about, so that a changed vote replaces it."""
