"""The state that folds make of the log: frozen, and every part of it bounded.

One `PartitionState` per partition holds what is shared (settings, packs) and each agent's
own. Maps are persistent: a new state shares all that did not change with the old one
(docs/adr/0005). Field names are the format of checkpoints.
"""

from datetime import datetime
from typing import Any, Literal, TypeAlias, TypeVar

from immutables import Map
from msgspec import Struct, field
from msgspec.structs import replace

from schemas.messages.asks import ModelAsked, Rival, UnpredictedWords
from schemas.messages.experiments import Experiment, Variant
from schemas.messages.feedback import Strand
from schemas.state import limits
from schemas.state.character import NOBODY, Character
from schemas.state.evidence import Belief, Prior, Rater
from schemas.state.executive import IDLE, Executive
from schemas.state.lessons import Forming, Lesson, PastDecision, Reinforced, Sleeping
from schemas.state.proposals import Proposal
from schemas.state.taught import Shelf, Taught
from schemas.state.triggers import Expectation, Trigger
from schemas.values.bounded_map import EMPTY, Bounded
from schemas.values.learning_settings import LearningSettings
from schemas.values.reasons import Outcome, ResponseType
from schemas.values.settings import MindSettings, Prediction, SessionClock, StrategySpec
from schemas.values.vectors import Vector

_S = TypeVar("_S", bound=Struct)


class PackRef(Struct, frozen=True, kw_only=True):
    """A loaded pack, by content."""

    name: str
    version: str
    digest: str


Packs: TypeAlias = Map[str, PackRef]
"""By name."""


class SharedState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What holds for every agent of the partition."""

    settings: MindSettings | None = None
    packs: Packs = field(default_factory=Map)
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
    world: str | None = None
    """The world that the agent is in, which is told what its mind has answered."""


class Allowance(Struct, frozen=True, kw_only=True):
    """How much of its rate limit a source has used."""

    free_at_ns: int = 0
    """When its allowance is whole again: the broker's time, nanoseconds since 1970."""
    shed: int = 0
    """How many of its messages exceeded the limit."""


class SourceMemory(Struct, frozen=True, kw_only=True):
    """What is remembered of one source."""

    seen: Bounded[str, str] = field(default_factory=lambda: Bounded(limits.SEEN_EVENTS))
    """What was taken: an event's id to that of its decision, a control's or a vote's to
    that of its answer."""
    recent: tuple[Vector, ...] = ()
    """The vectors of its last events, oldest first."""
    recent_at: tuple[datetime, ...] = ()
    """When they came; may be shorter, as older states did not keep it."""


class Habit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kind of event that keeps coming, for habituation."""

    vector: Vector
    named: str
    """The values of the fields that conditions name, as JSON: like events agree on them."""
    passed_at: datetime | None
    """When one last passed the habituation gate."""
    seen_at: tuple[datetime, ...]
    """When the last few came, oldest first."""
    count: int = 0
    """How many came; 0 where nobody counts."""


class Batch(Struct, frozen=True, kw_only=True, gc=False):
    """What a decision needs to know of the answers that were said as one with its own."""

    answers: int
    """How many were heard, by which a vote on them is shared."""
    members: tuple[str, ...] = ()
    """Of the lead: the further decisions whose heuristics share the votes on it."""


class Remembered(Struct, frozen=True, kw_only=True, gc=False):
    """What later feedback and outcomes need to know of a decision.

    `gc=False`: there are up to 20,000, and none can be part of a cycle, so the garbage
    collector need not track them.
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
    """Each person's latest vote on it, -1 to 1."""
    entries: tuple[Strand, ...] = ()
    """Where votes on it count."""
    is_ignored: bool = False
    """Whether its fire stands for several that were ignored."""
    suggested: tuple[str, ...] = ()
    """The heuristics that the model was shown."""
    reinforced: Reinforced | None = None
    """The heuristic that a vote on the model's words counts for."""
    batch: Batch | None = None
    """The answers that were said as one with its own, if votes on them are shared."""


class _Fire(Struct, frozen=True, kw_only=True):
    fire_id: str
    decision_id: str
    heuristic_id: str
    content_hash: str
    domain: str
    entities: tuple[str, ...]


class OpenFire(_Fire, frozen=True, kw_only=True):
    """A shown fire whose outcome is still awaited."""

    expectations: tuple[Expectation, ...]


class ShownFire(_Fire, frozen=True, kw_only=True):
    """A recently shown fire, which an undo may still take back."""

    at: datetime


AskStatus: TypeAlias = Literal["open", "answered", "late"]


class Pending(Struct, frozen=True, kw_only=True):
    """A model's answer that is awaited."""

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
    """The prompt, if a prediction of the answer is to be asked for later."""
    about: UnpredictedWords | None = None
    """The answer, if only its prediction is still awaited."""
    rival: Rival | None = None
    """Who answers if the model takes too long."""
    trigger: Trigger | None = None
    """The event, for the rival's fire."""
    variant: Variant | None = None
    """The variant of an experiment that it was asked under."""
    lesson: Lesson | None = None
    """The event, for a heuristic that may be formed of the answer."""
    goals: tuple[str, ...] | None = None
    """The goals that the model was told, if not those for every event."""
    asked: str = ""
    """How its prompt began, to recognise an answer that only repeats it."""
    domain: str | None = None
    """The domain whose pack supplies prompts."""
    person: str | None = None
    """Whom the event is about, or who says it, if the executive is on."""
    speaker: str | None = None
    """The person whose own words the event is, likewise."""
    entities: tuple[str, ...] = ()
    heard: str = ""
    """How the event began, in its own words, where conversations are remembered."""
    hidden_from: tuple[str, ...] = ()
    """From whom the answer is hidden, as the event names them."""
    stream: bool = False
    """Whether its words go out as they come."""
    acts: bool = False
    """Whether the model was told what it may do besides speaking."""
    recalling: ModelAsked | None = None
    """What is asked of the model once the memory has answered, to which the ask is."""
    room: int = 0
    """How many characters of its prompt the memories may take."""
    kept_until: datetime | None = None
    """Until when the answer is worth saying if it waits for its time; None: no longer than
    else."""


class Rapport(Struct, frozen=True, kw_only=True):
    """How well one person and the companion get on, 0 to 1, as of a time."""

    value: float = 0.5
    at: datetime | None = None
    deltas: Bounded[str, float] = field(default_factory=lambda: Bounded(1_000))
    """What the vote on each decision added, so that a changed vote replaces it."""


class Timer(Struct, frozen=True, kw_only=True, order=True):
    """Something to do at a time of the agent's clock.

    Ordered by its fields in turn, so timers due at once run in the same order everywhere.
    """

    due: datetime
    id: str
    """The fire or the ask it is about."""
    purpose: Literal[
        "outcome",
        "model",
        "race",
        "prediction",
        "formation",
        "reflection",
        "sleep",
        "held",
        "reminder",
        "opportunity",
        "recall",
        "think",
        "layer",
    ]


class AgentState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the mind knows of one agent."""

    now: datetime | None = None
    clock: str | None = None
    """The session whose events set that time; "" for the broker's; None before the first."""
    heard_at: datetime | None = None
    """The broker's time of the last input."""
    chain: str = ""
    """A running hash over the raw inputs and outputs so far."""
    session: Session | None = None
    strategy: StrategySpec | None = None
    tuned: LearningSettings | None = None
    """The agent's own learning settings, which override those of the mind."""
    proposals: tuple[Proposal, ...] = ()
    """Oldest first."""
    experiment: Experiment | None = None
    goals: tuple[str, ...] | None = None
    domain_goals: Map[str, tuple[str, ...]] = field(default_factory=Map)
    """Further goals, for the events of one domain."""
    goal_vectors: Map[str, Vector] = field(default_factory=Map)
    """Of all these goals, by their text."""
    biases: Map[str, float] = field(default_factory=Map)
    domain_biases: Map[str, Map[str, float]] = field(default_factory=Map)
    """Biases that override these, for the events of one domain."""
    packs: Packs = field(default_factory=Map)
    """Packs of this agent alone, by name."""
    # Sensors and people can send any number of names, so maps keyed by them are bounded.
    sources: Bounded[str, SourceMemory] = field(
        default_factory=lambda: Bounded(limits.SOURCES)
    )
    intake: Bounded[str, Allowance] = field(
        default_factory=lambda: Bounded(limits.SOURCES)
    )
    """By source, if intake is limited."""
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
    """By origin; without one the prior is what each heuristic declares."""
    fits: Map[str, Belief] = field(default_factory=Map)
    """How well conditions recognise their situations, by the same keys, where judged."""
    decisions: Bounded[str, Remembered] = field(
        default_factory=lambda: Bounded(limits.DECISIONS)
    )
    fires: tuple[OpenFire, ...] = ()
    """Oldest first."""
    shown: tuple[ShownFire, ...] = ()
    """Fires that may still be taken back, oldest first."""
    asks: Bounded[str, AskStatus] = field(default_factory=lambda: Bounded(limits.ASKS))
    """What became of each ask, by id."""
    pending: Map[str, Pending] = field(default_factory=Map)
    """Models' answers that are awaited, by ask id."""
    lessons: Bounded[str, Lesson | None] = field(
        default_factory=lambda: Bounded(limits.LESSONS)
    )
    """What models said, by decision; None once a heuristic was made of it, or refused."""
    occasions: Bounded[str, Lesson] = field(
        default_factory=lambda: Bounded(limits.OCCASIONS)
    )
    """The events decided on, by decision, if silence can be learnt."""
    forming: Map[str, Forming] = field(default_factory=Map)
    """Heuristics that a model is asked to make, by ask id."""
    rapport: Bounded[str, Rapport] = field(
        default_factory=lambda: Bounded(limits.PEOPLE)
    )
    """By person."""
    raters: Bounded[str, Rater] = field(default_factory=lambda: Bounded(limits.PEOPLE))
    """Each person's habit of judging, by person."""
    timers: tuple[Timer, ...] = ()
    """Soonest first."""
    moments: tuple[PastDecision, ...] = ()
    """The latest decisions that a sleep may make again, oldest first."""
    sleeping: Sleeping | None = None
    """The sleep under way."""
    slept: Sleeping | None = None
    """The last one that is over."""
    executive: Executive = IDLE
    character: Character = NOBODY

    def taught(self, heuristic_id: str) -> Taught | None:
        """Return the taught heuristic of this id."""
        # Sorted, since the order of a persistent map differs from one process to another.
        for domain in sorted(self.shelves):
            found = self.shelves[domain].heuristics.get(heuristic_id)
            if found is not None:
                return found
        return None

    def learning(self, settings: MindSettings) -> LearningSettings:
        """Return the learning settings in force for the agent."""
        return settings.learning if self.tuned is None else self.tuned


def within(held: _S, *slices: str, **changes: Any) -> _S:
    """Return a state, or a slice, with changes of the slice that these names lead to."""
    if not slices:
        return replace(held, **changes)
    name, *further = slices
    return replace(held, **{name: within(getattr(held, name), *further, **changes)})


STRANGER = AgentState()
"""The state of an agent that the log has not mentioned yet."""


class PartitionState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the mind knows of one partition."""

    shared: SharedState = field(default_factory=SharedState)
    agents: Map[str, AgentState] = field(default_factory=Map)
    position: int = 0
    """The sequence of the last input answered."""
