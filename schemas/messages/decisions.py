"""Decisions of the mind: the arm chosen, and everything that led to it.

`Decided` is made at the occasion. If its answer is not final then, one `Completed` or
`Dropped` follows.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schemas.messages.arms import Action, Arm, Chained
from schemas.messages.experiments import Assignment
from schemas.messages.sensing import Dimension
from schemas.messages.voices import Voice
from schemas.values.base import (
    Kind,
    Message,
    MessagePart,
    Moment,
    Name,
    Personal,
    PersonalCode,
    PersonalName,
    Unit,
    written,
)
from schemas.values.reasons import (
    THREAT_ALWAYS_PASSES,
    Drop,
    Hearing,
    Path,
    ResponseType,
    Silence,
    Timing,
    Verdict,
)

Exploration = Literal["none", "uniform", "challenger"]
"""The scheme by which arms other than the strategy's had a chance."""

Exclusion = Literal["critical_urgency", "threat", "muted", "budget_exhausted"]
"""Why exploration was held back at an occasion."""


class Gate(MessagePart, frozen=True, kw_only=True):
    """One test on the way to an answer."""

    name: Name
    passed: bool
    value: float | None = None
    threshold: float | None = None
    margin: float | None = None
    """Value minus threshold: how close it was to the other result."""
    note: Personal | None = None


class Salience(MessagePart, frozen=True, kw_only=True):
    """Why the event mattered."""

    dimensions: dict[Dimension, Unit]
    score: Unit
    """S, the weighted mean of the dimensions."""
    sensitivity: Unit
    """s, from 0 fully habituated to such events to 1 not at all."""
    effective: Unit
    """S times s."""
    share: Unit | None = None
    """The part of s that is due to answers which nobody heeded, or to what somebody wants
    to hear less of; None: all of S counts but for habituation."""

    @property
    def is_threat(self) -> bool:
        """Whether the threat is high enough to pass nearly every gate."""
        return self.dimensions.get("threat", 0.0) >= THREAT_ALWAYS_PASSES


class Factors(MessagePart, frozen=True, kw_only=True):
    """The factors of the full score beside similarity and confidence; 1 changes nothing."""

    recency: float
    """Over 1 if it succeeded recently."""
    origin: float
    """By who made it."""
    habituation: float
    """Under 1 if it was said often recently."""


class Candidate(MessagePart, frozen=True, kw_only=True):
    """One arm that the strategy weighed."""

    arm: Arm
    probability: Unit
    eligible: bool = written(True)
    reason: str | None = None
    """Why it is not eligible."""
    similarity: float | None = None
    confidence: Unit | None = None
    alpha: float | None = None
    """A heuristic's successes and prior, as pseudo-counts of Beta(alpha, beta)."""
    beta: float | None = None
    """Its failures and prior, likewise."""
    score: float | None = None
    """What it was ranked by: the similarity, unless the strategy says otherwise."""
    factors: Factors | None = None
    """The further factors of the score, if it is the full one."""
    withheld: bool | None = None
    """Whether a draw kept it from the model, so that it could not copy it; None: nobody
    drew."""
    silence: bool | None = None
    """Whether it is a heuristic whose action is to say nothing."""


class Excluded(MessagePart, frozen=True, kw_only=True):
    """Exploration that was held back."""

    reason: Exclusion
    mass: Unit
    """The probability that would have gone to other arms than the strategy's."""


class Relevance(MessagePart, frozen=True, kw_only=True):
    """What was added to salience to decide whether an event is worth an answer now.

    0.2 if it is about a goal, up to 0.1 for what the person is about, up to 0.1 for its
    novelty, and -0.3 if such an event was answered lately.
    """

    goal: float
    focus: float
    novelty: float
    already_said: float
    raises: float
    """What was added to the threshold meanwhile, for example by "talk less"."""
    by_traits: float
    """What the character added to it: less for a proactive or a helpful one."""
    score: Unit
    """The effective salience with all of it, from 0 to 1."""
    threshold: Unit

    @property
    def terms(self) -> Mapping[str, float]:
        """What is added to salience, by name, in the order in which it is added."""
        return {
            "goal": self.goal,
            "focus": self.focus,
            "novelty": self.novelty,
            "said already": self.already_said,
        }


class RelevantGoal(MessagePart, frozen=True, kw_only=True):
    """A goal that was chosen because the event is about it."""

    text: Personal
    similarity: float


class Draw(MessagePart, frozen=True, kw_only=True):
    """The keyed draw that chose among the arms."""

    purpose: Name
    value: Unit


class Wording(MessagePart, frozen=True, kw_only=True):
    """How skills changed the words of a heuristic's answer."""

    intent: Personal
    """The words before."""
    digest: Name | None = None
    """Of template, skills and bands that were read; part of the arm. None: the words are
    as they were."""
    filtered: tuple[Name, ...] | None = None
    """Skills whose words do not suit the traits in force, a threat for example."""
    draws: tuple[Draw, ...] | None = None
    """Which of several texts were taken."""


class LayerVerdict(MessagePart, frozen=True, kw_only=True):
    """What a layer of a character came to."""

    layer: Name
    verdict: Verdict
    rule: str | None = None
    """What it would do: the name of the reflex."""
    why: Personal = written("")
    """In words."""


class Decision(Message, frozen=True, kw_only=True):
    """A decision or what became of it."""

    kind: ClassVar[Kind] = "decision"


class Decided(Decision, frozen=True, kw_only=True):
    """The mind chose one arm at an occasion."""

    token: ClassVar[str] = "decided"

    event_id: Name
    """The occasion: the event decided on; if a timer is, the decision's own id."""
    source: Name
    type: Name
    domain: Name
    path: Path
    arm: Arm
    """The arm chosen."""
    probability: Unit
    """The propensity: with which probability it was chosen, exploration included."""
    greedy_arm: Arm
    """The arm that the strategy prefers."""
    silence: Silence | None = None
    """Why nothing is said; None if something is, or may be later."""
    final: bool
    """False: a `Completed` or `Dropped` follows."""
    text: Personal | None = None
    response_type: ResponseType | None = None
    action: Action | None = None
    urgency: Unit = written(0.0)
    timing: Timing = written("immediate")
    expires_at: Moment | None = None
    """When an answer becomes stale."""
    matched_heuristic_id: str | None = None
    """The heuristic that answered; on `llm` the best candidate, which earns nothing."""
    predicted_success: Unit = written(0.0)
    prediction_confidence: Unit = written(0.0)
    strategy: Name
    strategy_version: int
    config_hash: Name
    exploration: Exploration = written("none")
    """How the strategy's odds were mixed with others before the draw."""
    exploration_excluded: Excluded | None = None
    """The exploration that was held back, and why."""
    draw: Draw | None = None
    candidates: tuple[Candidate, ...] = written(())
    gates: tuple[Gate, ...] = written(())
    salience: Salience
    session_id: str | None = None
    prompt_digest: str | None = None
    embedding: PersonalCode | None = None
    """The event's vector (base64), if not every machine would compute the same."""
    flags: tuple[str, ...] = written(())
    experiment: Assignment | None = None
    """Which variant of a running experiment was in force."""
    goals: tuple[RelevantGoal, ...] | None = None
    """The goals that the event is about, if only such counted; nearest first."""
    voice: Voice | None = None
    """The personality, if anything moves it from the usual one."""
    chain: str
    """The agent's chain hash up to its previous group, that included."""
    person: str | None = None
    """Who spoke, or whom the event is about."""
    claimed: Personal | None = None
    """Whom the event named, though its sensor was not granted that person; `person` is
    `unknown` then."""
    relevance: Relevance | None = None
    timer: str | None = None
    """The due timer, or the request to say something, that is the occasion, which is then
    named by the decision itself; None: an event is."""
    skills: tuple[Name, ...] | None = None
    """Those that its words are by, or that a model is told of, as `<name>@<version>`."""
    wording: Wording | None = None
    follows: str | None = None
    """The decision that the person's words follow upon, as its answer was the last thing
    said to that person."""
    layer: Name | None = None
    """The layer of a character that acts; None: no character, or none acts."""
    layers: tuple[LayerVerdict, ...] | None = None
    """What each layer of a character came to, in the order they were asked."""
    hearing: Hearing | None = None
    """Why what is said at a channel of all is said at a person's own, or waits."""

    @property
    def is_tried(self) -> bool:
        """Whether exploration chose another arm than the strategy prefers."""
        return self.exploration != "none" and self.arm != self.greedy_arm


class ActionChoice(MessagePart, frozen=True, kw_only=True):
    """What the model of an autonomous character answered, and what is done after it."""

    arm: Arm
    """The decision's own; if the model's answer was of no use, a random one."""
    probability: Unit
    """With which it was taken, given the answer."""
    reasoning: Personal | None = None
    thought: Personal | None = None
    self_confidence: Unit | None = None
    """How sure the model said it is."""
    wanted: Personal | None = None
    """What it called the action, if that is not its id."""
    fallback: Personal | None = None
    """Why something random is done instead."""
    draw: Draw | None = None
    candidates: tuple[Candidate, ...] | None = None


class Answer(MessagePart, frozen=True, kw_only=True):
    """What is said and done, by whom, and how well it is expected to go."""

    path: Literal["llm", "fallback", "heuristic", "proactive", "acknowledged"]
    """`acknowledged`: the person is told what was changed at their words; `heuristic`: in a
    race, the model did not answer by the deadline."""
    text: Personal
    response_type: ResponseType
    action: Action | None = None
    model: str = written("")
    """The model that was asked."""
    predicted_success: Unit
    prediction_confidence: Unit
    matched_heuristic_id: str | None = None
    winner: Arm | None = None
    """In a race: the arm that answered."""
    agrees_with: tuple[Name, ...] | None = None
    """Heuristics shown to the model that say the same; it may have copied them, so they
    earn nothing by it."""
    agreement: tuple[float, ...] | None = None
    """The cosine of the answer with each."""
    chain: Chained | None = None
    """Which model of a chain answered, after how many, and at what price."""
    out_of_character: tuple[Name, ...] | None = None
    """The rules of the character that a model's words broke, and were trimmed by: `length`,
    `exclamations`, `sarcasm`."""


class HeldAnswer(Answer, frozen=True, kw_only=True):
    """An answer that waits, as it will be said."""

    path: Literal["llm", "heuristic", "proactive"]
    channel: Name
    urgency: Unit
    priority: float
    expires_at: Moment
    event_id: Name
    domain: str = written("")
    """The domain whose answers it may be said together with."""
    person: str | None = None
    entities: tuple[PersonalName, ...] = written(())
    asked_by: Name | None = None
    """Who asked for it to be said, if somebody did; their own quiet does not stop it."""
    hidden_from: tuple[Name, ...] | None = None
    """Who must not hear it, by name, or `guests`; None: nobody."""


class HeldHeuristic(MessagePart, frozen=True, kw_only=True):
    """The heuristic of an answer that waits: its fire begins when the words are said."""

    content_hash: Name
    similarity: float
    confidence: Unit


class _OfDecision(Decision, Answer, frozen=True):
    # Not by keyword alone: so their places are the first, as in every log.
    decision_id: Name
    ask_id: Name


class Completed(_OfDecision, frozen=True, kw_only=True):
    """The answer to a decision that was not final."""

    token: ClassVar[str] = "completed"

    also_answers: tuple[Name, ...] = written(())
    """Further decisions that this answers, when several were batched."""
    left_out: tuple[Personal, ...] | None = None
    """What a character's model wanted besides and may not, each with the reason."""
    choice: ActionChoice | None = None
    """Of an autonomous character."""
    thought: Personal | None = None
    """What a talker's model thought, if it is told of that later."""


class Held(Decision, frozen=True, kw_only=True):
    """An answer is ready and waits for its time; a `Completed` or `Dropped` follows."""

    token: ClassVar[str] = "held"

    decision_id: Name
    ask_id: Name
    """The ask that the model answered; the decision itself if a heuristic answers."""
    timing: Timing
    due_at: Moment
    """When it is said at the latest if it is `deferred`; otherwise when it is given up."""
    answer: HeldAnswer
    heuristic: HeldHeuristic | None = None
    """The heuristic that answers."""
    question: Personal | None = None
    """What a person is asked first, who says yes or no to what it does."""


class Dropped(Decision, frozen=True, kw_only=True):
    """A decision that was not final ends with nothing said."""

    token: ClassVar[str] = "dropped"

    decision_id: Name
    ask_id: Name | None = None
    reason: Drop
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")


class HeuristicFired(Message, frozen=True, kw_only=True):
    """A heuristic took part in a decision."""

    kind: ClassVar[Kind] = "fire"
    token: ClassVar[str] = "heuristic_fired"

    decision_id: Name
    event_id: Name
    heuristic_id: Name
    content_hash: Name
    mode: Literal["shown", "suggested", "kept"]
    """`shown`: the person saw its action; `suggested`: only the model did; `kept`: it said
    nothing, and so kept a silence."""
    similarity: float
    confidence: Unit
