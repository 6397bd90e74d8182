"""What the mind knows: the state that folds make of the log, frozen and bounded.

One `PartitionState` per partition: what is shared (settings, packs) and each agent's own.
Maps are persistent, so a new state shares with the old one all that did not change.
"""

from datetime import datetime
from typing import Literal, TypeAlias

from immutables import Map
from msgspec import Struct, field

from schemas.messages.asks import Rival, Words
from schemas.messages.experiments import Experiment, Variant
from schemas.messages.feedback import Strand
from schemas.messages.sleep import Moment, Sleeping
from schemas.state import limits
from schemas.state.evidence import Belief, Prior
from schemas.state.lessons import Forming, Lesson, Reinforced
from schemas.state.proposals import Proposal
from schemas.state.raters import Rater
from schemas.state.taught import Shelf as Shelf
from schemas.state.taught import Taught as Taught
from schemas.values.bounded_map import EMPTY, Bounded
from schemas.values.reasons import Outcome, ResponseType
from schemas.values.settings import (
    LearningSettings,
    MindSettings,
    Prediction,
    SessionClock,
    StrategySpec,
)
from schemas.values.vectors import Vector


class PackRef(Struct, frozen=True, kw_only=True):
    """A loaded pack, by content."""

    name: str
    version: str
    digest: str


class SharedState(Struct, frozen=True, kw_only=True):
    """What holds for every agent of the partition."""

    settings: MindSettings | None = None
    packs: Map[str, PackRef] = field(default_factory=Map)
    """By name."""
    goal_vectors: Map[str, Vector] = field(default_factory=Map)
    """Of the settings' goals, by their text, if goals are chosen by event."""
    chain: str = ""


class Session(Struct, frozen=True, kw_only=True):
    """A stretch of an agent's life that can be replayed by itself."""

    id: str
    title: str
    clock: SessionClock
    first_sequence: int
    started_at: datetime
    last_at: datetime
    """The agent's time of the last input in it."""
    clock_set: bool = False
    """Whether a sensor's time has set an event clock yet."""


class Allowance(Struct, frozen=True, kw_only=True):
    """How much of what it may send a source has sent."""

    free_at_ns: int = 0
    """When all of it is used up by time, in nanoseconds since 1970 of the broker."""
    shed: int = 0
    """How many of its messages were too many."""


class SourceMemory(Struct, frozen=True, kw_only=True):
    """What is remembered of one source."""

    seen: Bounded[str, str] = field(default_factory=lambda: Bounded(limits.SEEN_EVENTS))
    """Event id to the id of its decision."""
    recent: tuple[Vector, ...] = ()
    """The vectors of its last events, oldest first."""
    recent_at: tuple[datetime, ...] = ()
    """When they came; of the oldest it may not be known."""


class Habit(Struct, frozen=True, kw_only=True):
    """One sort of event that keeps coming."""

    vector: Vector
    named: str
    """The values of the fields that conditions name, as JSON: like events agree on them."""
    passed_at: datetime | None
    """When one last passed the gate."""
    seen_at: tuple[datetime, ...]
    """When the last few came, oldest first."""


class Remembered(Struct, frozen=True, kw_only=True, gc=False):
    """What later feedback and outcomes need to know of a decision.

    There are up to 20,000, none part of a cycle, so the collector need not know them.
    """

    event_id: str
    source: str
    session_id: str | None
    path: str
    at: datetime | None = None
    """When it was made; None in a state of before that was kept."""
    fire_id: str | None = None
    heuristic_id: str | None = None
    content_hash: str | None = None
    """The heuristic whose action the person saw, if one answered."""
    outcome: Outcome | None = None
    """How its fire ended, once known."""
    is_judged: bool = False
    """Whether anybody ever voted on it."""
    votes: Map[str, float] = EMPTY
    """Each person's latest vote on it, -1 to 1; empty in a state of the first edition."""
    entries: tuple[Strand, ...] = ()
    """Where votes on it count."""
    is_ignored: bool = False
    """Whether its fire stands for several that were ignored."""
    suggested: tuple[str, ...] = ()
    """The heuristics that the model was shown."""
    reinforced: Reinforced | None = None
    """The heuristic that a vote on the model's words counts for."""


class Expectation(Struct, frozen=True, kw_only=True):
    """A pack's outcome pattern, armed for a fire."""

    pattern: str
    is_success: bool
    due: datetime


class OpenFire(Struct, frozen=True, kw_only=True):
    """A shown fire whose outcome is still waited for."""

    fire_id: str
    decision_id: str
    heuristic_id: str
    content_hash: str
    domain: str
    entities: tuple[str, ...]
    expectations: tuple[Expectation, ...]


class ShownFire(Struct, frozen=True, kw_only=True):
    """A fire that was shown a moment ago, and may be taken back."""

    fire_id: str
    decision_id: str
    heuristic_id: str
    content_hash: str
    at: datetime
    domain: str
    entities: tuple[str, ...]


class Trigger(Struct, frozen=True, kw_only=True):
    """What a fire needs to know of its event, if it comes later than that."""

    at: datetime
    domain: str
    entities: tuple[str, ...]
    expectations: tuple[Expectation, ...]
    """What would be waited for, had it fired at once."""


AskStatus: TypeAlias = Literal["open", "answered", "late"]


class Pending(Struct, frozen=True, kw_only=True):
    """A model's answer that is waited for."""

    ask_id: str
    decision_id: str
    event_id: str
    expires_at: datetime
    channel: str
    response_type: ResponseType
    urgency: float
    priority: float
    matched_heuristic_id: str | None
    prediction: Prediction = "same"
    prompt: str | None = None
    """What was asked, if a prediction of the answer is to be asked for later."""
    about: Words | None = None
    """The answer, if only its prediction is waited for."""
    rival: Rival | None = None
    """Who answers if the model takes too long."""
    trigger: Trigger | None = None
    """The event, for the rival's fire."""
    variant: Variant | None = None
    """The variant of an experiment that it was asked under."""
    lesson: Lesson | None = None
    """The event, for what may be learnt of the answer."""
    goals: tuple[str, ...] | None = None
    """The goals that the model was told, if not those for every event."""
    asked: str = ""
    """How its prompt began, so that an answer which repeats it is known."""
    domain: str | None = None
    """The domain whose pack has a say in how the model is asked."""


class Rapport(Struct, frozen=True, kw_only=True):
    """How one person and the companion stand, 0 to 1, as of a time."""

    value: float = 0.5
    at: datetime | None = None
    deltas: Bounded[str, float] = field(default_factory=lambda: Bounded(1_000))
    """What each decision's vote added, so that a changed vote replaces it."""


class Timer(Struct, frozen=True, kw_only=True, order=True):
    """Something to do at a time of the agent."""

    due: datetime
    id: str
    """The fire or the ask it is about."""
    purpose: Literal[
        "outcome", "model", "race", "prediction", "formation", "reflection", "sleep"
    ]


class AgentState(Struct, frozen=True, kw_only=True):
    """All that the mind knows of one agent."""

    now: datetime | None = None
    clock: str | None = None
    """The session whose events tell that time; "" the broker; None in edition 1."""
    heard_at: datetime | None = None
    """The broker's time of the last input, kept from the second edition on."""
    chain: str = ""
    """Over the raw inputs and outputs so far."""
    session: Session | None = None
    strategy: StrategySpec | None = None
    tuned: LearningSettings | None = None
    """The agent's own learning settings, which go before those of the mind."""
    proposals: tuple[Proposal, ...] = ()
    """Oldest first."""
    experiment: Experiment | None = None
    goals: tuple[str, ...] | None = None
    domain_goals: Map[str, tuple[str, ...]] = field(default_factory=Map)
    """What counts for the events of a domain besides."""
    goal_vectors: Map[str, Vector] = field(default_factory=Map)
    """Of all these goals, by their text."""
    biases: Map[str, float] = field(default_factory=Map)
    domain_biases: Map[str, Map[str, float]] = field(default_factory=Map)
    """What counts for the events of a domain before them."""
    packs: Map[str, PackRef] = field(default_factory=Map)
    """Packs of this agent alone, by name."""
    sources: Bounded[str, SourceMemory] = field(
        default_factory=lambda: Bounded(limits.SOURCES)
    )
    intake: Bounded[str, Allowance] = field(
        default_factory=lambda: Bounded(limits.SOURCES)
    )
    """By source, if sensors have a rate."""
    habits: Bounded[str, tuple[Habit, ...]] = field(
        default_factory=lambda: Bounded(limits.EVENT_SORTS)
    )
    """By `<source>.<type>`, the least recently seen first."""
    shelves: Map[str, Shelf] = field(default_factory=Map)
    """What was taught, by domain."""
    frozen: Map[str, bool] = field(default_factory=Map)
    """Heuristics frozen by hand."""
    beliefs: Map[str, Belief] = field(default_factory=Map)
    """By `<heuristic id>@<content hash>`."""
    priors: Map[str, Prior] = field(default_factory=Map)
    """By origin; of the others each one's declared confidence is the prior."""
    fits: Map[str, Belief] = field(default_factory=Map)
    """How well conditions tell their situations, by the same keys, if anybody judged."""
    decisions: Bounded[str, Remembered] = field(
        default_factory=lambda: Bounded(limits.DECISIONS)
    )
    fires: tuple[OpenFire, ...] = ()
    """Oldest first."""
    shown: tuple[ShownFire, ...] = ()
    """What may still be taken back, oldest first."""
    asks: Bounded[str, AskStatus] = field(default_factory=lambda: Bounded(limits.ASKS))
    """What became of each ask, by id."""
    pending: Map[str, Pending] = field(default_factory=Map)
    """Models' answers that are waited for, by ask id."""
    lessons: Bounded[str, Lesson | None] = field(
        default_factory=lambda: Bounded(limits.LESSONS)
    )
    """What models said, by decision; None once a heuristic was made of it, or refused."""
    occasions: Bounded[str, Lesson] = field(
        default_factory=lambda: Bounded(limits.OCCASIONS)
    )
    """What was decided on, by decision, if silence can be learnt."""
    forming: Map[str, Forming] = field(default_factory=Map)
    """Heuristics that a model is asked to make, by ask id."""
    rapport: Bounded[str, Rapport] = field(
        default_factory=lambda: Bounded(limits.PEOPLE)
    )
    """By person."""
    raters: Bounded[str, Rater] = field(default_factory=lambda: Bounded(limits.PEOPLE))
    """How people use to judge, by person."""
    timers: tuple[Timer, ...] = ()
    """Soonest first."""
    moments: tuple[Moment, ...] = ()
    """The latest decisions that a sleep may make again, oldest first."""
    sleeping: Sleeping | None = None
    """The sleep under way."""
    slept: Sleeping | None = None
    """The last one that is over."""

    def learning(self, settings: MindSettings) -> LearningSettings:
        """Return the learning settings in force for the agent."""
        return settings.learning if self.tuned is None else self.tuned


STRANGER = AgentState()
"""An agent of whom nothing is known yet."""


class PartitionState(Struct, frozen=True, kw_only=True):
    """All that the mind knows of one partition."""

    shared: SharedState = field(default_factory=SharedState)
    agents: Map[str, AgentState] = field(default_factory=Map)
    position: int = 0
    """The sequence of the last input answered."""
