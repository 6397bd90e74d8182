"""Steps of learning: outcomes of fires, feedback that counted, lifecycles of heuristics."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schemas.messages.feedback import Aspect
from schemas.messages.repertoire import Formed, RepertoireChange
from schemas.values.base import (
    Kind,
    Message,
    MessagePart,
    Moment,
    Name,
    Personal,
    Scalar,
    Signed,
    Token,
    Unit,
    written,
)
from schemas.values.reasons import Lifecycle, NotFormed, Outcome, Refusal
from schemas.values.unicode_text import quoted


class OutcomeOfFire(Message, frozen=True, kw_only=True):
    """How one fire ended."""

    kind: ClassVar[Kind] = "outcome"

    fire_id: Name
    decision_id: Name
    heuristic_id: Name
    content_hash: Name


class OutcomeObserved(OutcomeOfFire, frozen=True, kw_only=True):
    """The world showed how the fire turned out."""

    token: ClassVar[str] = "outcome_observed"

    outcome: Outcome
    by: Literal["report", "pattern", "undo"]
    """`report`: an event named the decision; `pattern`: one of the pack's was seen;
    `undo`: what it advised was soon taken back."""
    event_id: Name
    """The event that showed it."""
    pattern: str | None = None
    reason: Annotated[Personal, Meta(max_length=500)] | None = None


class OutcomeExpired(OutcomeOfFire, frozen=True, kw_only=True):
    """No awaited event came in time; confidence stays as it is."""

    token: ClassVar[str] = "outcome_expired"


class AdviceIgnored(OutcomeOfFire, frozen=True, kw_only=True):
    """The last of several fires in a row without an outcome or a vote."""

    token: ClassVar[str] = "advice_ignored"

    count: Annotated[int, Meta(ge=1)]
    """How many fires; together they count once, for the last of them."""


class Learning(Message, frozen=True, kw_only=True):
    """A step of learning."""

    kind: ClassVar[Kind] = "learning"


class FeedbackApplied(Learning, frozen=True, kw_only=True):
    """A vote counted: for rapport, and for the heuristic whose answer was seen."""

    token: ClassVar[str] = "feedback_applied"

    decision_id: str | None = None
    fire_id: str | None = None
    heuristic_id: str | None = None
    """The heuristic credited; None if a model answered, or nobody did."""
    content_hash: str | None = None
    actor: Name
    value: Signed
    aspect: Aspect = "overall"
    """What of it was judged; the vote counts there alone."""
    comment: Personal | None = None
    through: str | None = None
    """The decision whose vote this was: it counts for a heuristic that says the same."""
    age_s: float | None = None
    """How long after the decision it came; None for a decision long forgotten."""
    share: Annotated[float, Meta(gt=0.0, le=1.0)] | None = None
    """By which share it counts, as several answers were said as one; None: in full."""

    @property
    def is_passed_on(self) -> bool:
        """Whether it is a vote on answers said as one, once more for a further heuristic."""
        return self.through is not None and self.fire_id is not None


class FeedbackRefused(Learning, frozen=True, kw_only=True):
    """A vote could not count."""

    token: ClassVar[str] = "feedback_refused"

    reason: Refusal
    detail: Personal


class SettingChange(MessagePart, frozen=True, kw_only=True):
    """One setting, as it is and as it is proposed to be."""

    name: Name
    before: Scalar | None = None
    """None if the strategy leaves it open."""
    after: Scalar


class Inferred(MessagePart, frozen=True, kw_only=True):
    """A fact or a goal that a model inferred; it counts once a person accepts it."""

    kind: Literal["fact", "goal"]
    subject: Annotated[Personal, Meta(max_length=200)] = written("")
    relation: Annotated[Personal, Meta(max_length=200)] = written("")
    object: Annotated[Personal, Meta(max_length=1_000)] = written("")
    person: Token | None = None
    """Whom alone the fact concerns."""
    goal: Annotated[Personal, Meta(max_length=200)] = written("")

    @property
    def in_words(self) -> str:
        """The fact or the goal in words."""
        return self.goal or f"{self.subject} {self.relation} {self.object}"


class StoredRoutine(MessagePart, frozen=True, kw_only=True):
    """What a character does in a situation without asking its model."""

    action: Token
    target: Annotated[str, Meta(max_length=200)] | None = None
    uses: Annotated[int, Meta(ge=0)]
    successes: Annotated[int, Meta(ge=0)]


class CharacterChange(MessagePart, frozen=True, kw_only=True):
    """A change of what an autonomous character is: a weight, a routine, what it knows."""

    kind: Literal["weight", "routine", "knowledge"]
    name: Annotated[Personal, Meta(max_length=1_000)]
    """A kind of action, a situation, or `world_knowledge`."""
    before: StoredRoutine | float | Personal | None = None
    """A weight, a routine, or a sentence; None: there was none."""
    after: StoredRoutine | float | Personal | None = None
    since: Moment | None = None
    """The actions from here until `until` were told to who proposed it, and cannot speak for
    it."""
    until: Moment | None = None

    @property
    def in_words(self) -> str:
        """The change in words."""
        named = f"{self.kind} {self.name}"
        return f"{named}: {_worded(self.before)} → {_worded(self.after)}"


def _worded(value: StoredRoutine | float | str | None) -> str:
    if isinstance(value, StoredRoutine):
        target = f" {value.target}" if value.target is not None else ""
        return f"{value.action}{target} ({value.successes} of {value.uses})"
    if value is None:
        return "none"
    return quoted(value) if isinstance(value, str) else f"{value:g}"


class ProposalMade(Learning, frozen=True, kw_only=True):
    """A proposal to change settings or heuristics, with the evidence for it."""

    token: ClassVar[str] = "proposal_made"

    proposal_id: Name
    changes: tuple[SettingChange, ...]
    evidence: Personal = written("")
    figures: dict[Name, float] = written({})
    by: Name
    repertoire: RepertoireChange | None = None
    """What of the heuristics would change, if it is about these and not about settings."""
    inferred: Inferred | None = None
    """What would count as known, or as a goal, if it is about that."""
    sleep_id: Name | None = None
    applied: bool | None = None
    """Whether it was applied at once, by the policy of the sleep that made it, or of the
    character."""
    character: CharacterChange | None = None
    """What of a character would change, if it is about that."""


Retrospect = Literal["reflection", "review"]
"""How a character looks back: on what it did, or also on how it decided."""

RetrospectCause = Literal["actions", "importance", "decisions", "asked"]


class InsightFormed(Learning, frozen=True, kw_only=True):
    """A character looked back on what it did, and remembers what it found."""

    token: ClassVar[str] = "insight_formed"

    of: Retrospect
    cause: RetrospectCause
    by: Literal["model", "rules"]
    until: Name
    """The decision of the latest action that was looked at."""
    actions: Annotated[int, Meta(ge=0)]
    """How many actions were."""
    text: Annotated[Personal, Meta(max_length=400)] = written("")
    """What it found; empty: nothing, which is not remembered."""
    ask_id: Name | None = None
    """What its model was asked, if it was."""
    fault: Annotated[Personal, Meta(max_length=2_000)] | None = None
    """Why it is not by its model, or why nothing came of it."""


class LifecycleChanged(Learning, frozen=True, kw_only=True):
    """A heuristic crossed a limit; announced for those who listen, never folded."""

    token: ClassVar[str] = "lifecycle_changed"

    heuristic_id: Name
    content_hash: Name
    before: Lifecycle
    after: Lifecycle
    confidence: Unit


class HeuristicFormed(Learning, Formed, frozen=True, kw_only=True):
    """A model's answer that a person liked became a heuristic, at low confidence."""

    token: ClassVar[str] = "heuristic_formed"

    domain: Name
    """The pack, or the undeclared source, whose events it may answer."""
    origin: Literal["learned"] = written("learned")
    proposal_id: Name | None = None
    """The proposal that it comes of, if not of a vote."""
    is_silence: bool = False
    """Whether its action is to say nothing, which `text` states for readers."""


class CandidateRefused(Learning, frozen=True, kw_only=True):
    """A model's answer that a person liked became no heuristic."""

    token: ClassVar[str] = "candidate_refused"

    reason: NotFormed
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    decision_id: Name
    sleep_id: Name | None = None
    """The sleep in which it was considered, if no vote asked for it."""


class HeuristicReinforced(Learning, frozen=True, kw_only=True):
    """What was to become a heuristic is one already; announced, never folded.

    What it earns is in the `FeedbackApplied` before it.
    """

    token: ClassVar[str] = "heuristic_reinforced"

    heuristic_id: Name
    content_hash: Name
    decision_id: Name
    similarity: float
    """Of the conditions."""
    action_similarity: float
    confidence: Unit


class Endorsed(Learning, frozen=True, kw_only=True):
    """A model that was not shown a heuristic said what it would have said."""

    token: ClassVar[str] = "endorsed"

    heuristic_id: Name
    content_hash: Name
    decision_id: Name
    similarity: Unit
    """The cosine of the model's answer and the heuristic's."""
    weight: Annotated[float, Meta(ge=0.0)]
    """The weight of it, in observations, by the settings in force."""


class SilenceWeighed(Learning, frozen=True, kw_only=True):
    """A vote or an outcome is evidence for or against keeping silent at such occasions."""

    token: ClassVar[str] = "silence_weighed"

    heuristic_id: Name
    """The heuristic that says nothing, whose condition and `when` hold of the occasion."""
    content_hash: Name
    decision_id: Name
    actor: Name | None = None
    """Who voted; None if an outcome showed that it was good to speak."""
    value: Signed | None = None
    """1 for silence, -1 against; None: the actor's earlier vote no longer counts."""


class TrustChanged(Learning, frozen=True, kw_only=True):
    """A domain has no trusted heuristic any more, or one again, and no model answers there.

    Announced by the evidence that did it, never folded.
    """

    token: ClassVar[str] = "trust_changed"

    domain: Name
    is_trusted: bool
    """Whether one is; False: its events are met with silence, but for trials."""
    heuristic_id: Name
    """The last that was trusted, or the first that is."""
    content_hash: Name
    confidence: Unit
    threshold: Unit
    """From which confidence one answers by itself."""


class DriftRaised(Learning, frozen=True, kw_only=True):
    """A heuristic's latest fires differ from all before; announced, never folded."""

    token: ClassVar[str] = "drift_raised"

    heuristic_id: Name
    content_hash: Name
    fires: int
    """How many of the latest fires were looked at."""
    successes: int
    """How many of them went well."""
    expected: Unit
    """The share of successes that earlier evidence predicts."""
    low: Unit
    """From `low` to `high`: the predictive interval of the share, ends included."""
    high: Unit
