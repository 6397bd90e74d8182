"""What people say about a decision or a heuristic."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from schemas.message import Message, Name, Signed
from schemas.subjects import Kind


class FeedbackGiven(Message):
    """A person judged a decision, or a heuristic itself; the latest vote of each counts."""

    kind: ClassVar[Kind] = "feedback"

    decision_id: Name | None = None
    """The `Decided` it is about."""
    heuristic_id: Name | None = None
    """The heuristic it is about, when it names no decision."""
    rating: Literal["positive", "negative", "scaled"]
    value: Signed | None = None
    """Only for `scaled`: -1 as bad as can be, 1 as good."""
    actor: Name = "user"
    """Who judged; each actor has one vote on a decision."""
    comment: str | None = Field(default=None, max_length=2_000)
    channel: Name | None = None
    """Where it was given: cli, game, chat."""

    @model_validator(mode="after")
    def _names_one_target(self) -> Self:
        if (self.decision_id is None) == (self.heuristic_id is None):
            raise ValueError("name either a decision_id or a heuristic_id")
        if (self.rating == "scaled") != (self.value is not None):
            raise ValueError("a value goes with the rating 'scaled', and only with it")
        return self

    @property
    def signed(self) -> float:
        """The vote as a number from -1 to 1."""
        if self.value is not None:
            return self.value
        return 1.0 if self.rating == "positive" else -1.0
