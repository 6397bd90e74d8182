"""Feedback: a person's vote on a decision or a heuristic."""

from typing import Annotated, ClassVar, Literal, Self

from msgspec import Meta

from schemas.values.base import (
    Kind,
    Message,
    MessagePart,
    Name,
    Personal,
    Signed,
    written,
)
from schemas.values.persons import PersonToken
from schemas.values.reasons import Outcome, Path

Aspect = Literal["overall", "timing", "condition", "action"]
"""What is judged: all of it; when it was said; that anything was said to such an event;
what was said."""

Strand = Literal["pair", "fit"]
"""What a vote is evidence of: that the action is good in the situation, or that the
condition recognises the situation."""

# Of 1 to 5 stars: with half a unit a star, 3 is 0 and the ends are -1 and 1.
_MIDDLE_STAR = 3


class ForgottenDecision(MessagePart, frozen=True, kw_only=True):
    """What the log holds of a decision that the state has forgotten."""

    event_id: Name
    source: Name
    session_id: Name | None = None
    path: Path
    fire_id: Name | None = None
    heuristic_id: Name | None = None
    content_hash: Name | None = None
    """The heuristic whose action the person saw, if one answered."""
    entries: tuple[Strand, ...] = written(())
    """Where earlier votes on it counted."""
    vote: Signed | None = None
    """The same person's earlier vote on it, -1 to 1."""
    outcome: Outcome | None = None
    """How its fire ended, if an outcome was observed."""
    answers: Annotated[int, Meta(ge=2)] | None = None
    """How many decisions its words answered, if they were several; it has its share of a
    vote, and the others, whose decisions are forgotten as well, keep what they had."""


class FeedbackGiven(Message, frozen=True, kw_only=True):
    """A person judged a decision, or a heuristic itself; the latest vote of each counts."""

    kind: ClassVar[Kind] = "feedback"
    token: ClassVar[str] = "feedback_given"

    decision_id: Name | None = None
    """The `Decided` it is about."""
    heuristic_id: Name | None = None
    """The heuristic it is about, when it names no decision."""
    rating: Literal["positive", "negative", "scaled"]
    value: Signed | None = None
    """Only for `scaled`: -1 as bad as can be, 1 as good."""
    stars: Annotated[int, Meta(ge=1, le=5)] | None = None
    """Only for `scaled`, instead of a value: 1 is -1, 2 -0.5, 3 0, 4 0.5 and 5 is 1."""
    aspect: Aspect = "overall"
    """What of it is judged; a vote on one aspect replaces one on another."""
    actor: PersonToken = written("user")
    """Who judged; each actor has one vote on a decision. A name of any script may be given:
    its token is derived, as that of `person` is, so that a person's votes are theirs."""
    comment: Annotated[Personal, Meta(max_length=2_000)] | None = None
    channel: Name | None = None
    """Where it was given: cli, game, chat."""
    about: ForgottenDecision | None = None
    """Filled in by Echoic alone, if the state has forgotten the decision."""

    def settled(self) -> Self:
        """Return it; refuse what names two targets or none, or a value that is out of place."""
        if (self.decision_id is None) == (self.heuristic_id is None):
            raise ValueError("name either a decision_id or a heuristic_id")
        # A heuristic itself has no moment that could be right or wrong.
        if self.decision_id is None and self.aspect == "timing":
            raise ValueError("a vote on the timing names a decision_id")
        given = sum(each is not None for each in (self.value, self.stars))
        if given != (self.rating == "scaled"):
            raise ValueError(
                "a value or stars go with the rating 'scaled', and only with it"
            )
        return self

    @property
    def signed(self) -> float:
        """The vote as a number from -1 to 1."""
        if self.value is not None:
            return self.value
        if self.stars is not None:
            return (self.stars - _MIDDLE_STAR) / 2
        return 1.0 if self.rating == "positive" else -1.0
