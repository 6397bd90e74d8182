"""Changes of the repertoire: which heuristics an agent uses, before and after."""

from typing import Literal

from schemas.messages.arms import HeuristicContent
from schemas.values.base import MessagePart, Name, Personal, Unit, written

_ChangeKind = Literal["merge", "retire", "form"]
"""`merge`: of two that say the same one goes; `retire`: one goes; `form`: one comes."""

ChangeReason = Literal["duplicate", "never_fired", "stale", "deprecated", "said_again"]
"""Why: another says the same; it never fired, or not for long; it failed too often; a model
said the same twice, and no heuristic does."""


class Stand(MessagePart, frozen=True, kw_only=True):
    """One heuristic, and whether the agent uses it."""

    heuristic_id: Name
    content_hash: Name
    name: Personal
    in_use: bool
    confidence: Unit


class Formed(HeuristicContent, frozen=True, kw_only=True):
    """A heuristic made of what a model said."""

    domain: str = ""
    """Empty where the change that it is part of names it."""
    origin: Literal["learned"] = "learned"
    decision_id: Name
    """The decision whose answer it was."""
    when_left_out: Personal | None = None
    """Why a `when` that the model proposed is not part of it."""
    due: Personal | None = None
    """When a reminder is due, in the model's words; nothing acts on it: it is said as an
    observation."""


class RepertoireChange(MessagePart, frozen=True, kw_only=True):
    """What of a domain's heuristics would change."""

    kind: _ChangeKind
    reason: ChangeReason
    domain: Name
    before: tuple[Stand, ...] = written(())
    after: tuple[Stand, ...] = written(())
    """The same heuristics afterwards, and the one that comes."""
    formed: Formed | None = None
    similarity: float | None = None
    """Of the conditions of two that say the same."""
    action_similarity: float | None = None

    @property
    def going(self) -> tuple[Stand, ...]:
        """The heuristics that the agent would no longer use."""
        stay = {each.heuristic_id for each in self.after if each.in_use}
        return tuple(each for each in self.before if each.heuristic_id not in stay)
