"""Recency: when each heuristic last fired and succeeded, at each place of a recording.

It is folded from the recorded fires, outcomes and votes by the mind's own fold, so that a
strategy that ranks by recency can be asked about any recording, whatever its own ranking.
"""

from collections.abc import Mapping
from datetime import datetime

from projections.folds.learning.signal_weights import DIRECT_VOTE
from projections.folds.learning.vote_targets import STRANDS
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import HeuristicEdited
from schemas.messages.decisions import HeuristicFired
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.state.agent import AgentState
from schemas.state.evidence import NEVER, Belief, Recent, belief_key

RECENCY_TOKENS = frozenset(
    message.token for message in (HeuristicFired, OutcomeObserved, FeedbackApplied)
)
"""The outputs that recency depends on."""


class UnknownPastError(ValueError):
    """A strategy needs the recency from before a recording, which does not hold it."""


class Recalling:
    """The recency of each heuristic's content, folded output by output."""

    def __init__(self, believed: Mapping[str, Belief]) -> None:
        """Start with the beliefs from before the recording."""
        self._recent = {key: believed[key].recent for key in sorted(believed)}

    def of(self, key: str) -> Recent | None:
        """Return the recency of `<heuristic id>@<content hash>`.

        `NEVER` for a heuristic not met so far, None where an old checkpoint does not tell.
        """
        return self._recent.get(key, NEVER)

    def take(self, output: Output) -> None:
        """Fold an output, if recency depends on its type."""
        match output.message:
            # A suggestion that only a model saw earns no credit, so it is no fire here.
            case HeuristicFired(mode="shown") as fired:
                key = belief_key(fired.heuristic_id, fired.content_hash)
                self._recent[key] = (self.of(key) or NEVER).after_fire(output.at)
            case OutcomeObserved(outcome=("success" | "fail") as outcome) as seen:
                key = belief_key(seen.heuristic_id, seen.content_hash)
                self._ended(key, seen.fire_id, outcome == "success", output.at)
            case FeedbackApplied() as vote:
                is_pair = STRANDS[vote.aspect] == "pair" and vote.value != 0.0
                if vote.heuristic_id and vote.content_hash and is_pair:
                    key = belief_key(vote.heuristic_id, vote.content_hash)
                    fire_id = vote.fire_id or vote.through or DIRECT_VOTE
                    self._ended(key, fire_id, vote.value > 0.0, output.at)
            case _:
                pass

    def change(self, input_: Input, before: AgentState, after: AgentState) -> None:
        """Fold an applied control: an edit may keep what the old content learnt."""
        message = input_.message
        if not isinstance(message, HeuristicEdited) or not message.keep:
            return
        old, new = (state.taught(message.heuristic_id) for state in (before, after))
        if old is not None and new is not None:
            key = belief_key(old.heuristic_id, old.content_hash)
            if key in self._recent:
                self._recent[belief_key(new.heuristic_id, new.content_hash)] = (
                    self._recent[key]
                )

    def _ended(self, key: str, fire_id: str, is_success: bool, at: datetime) -> None:
        recent = (self.of(key) or NEVER).after_outcome(fire_id, is_success, at)
        self._recent[key] = recent


def known(recent: Recent | None, arm: str) -> Recent:
    """Return the recency, for a strategy that needs it.

    Raises:
        UnknownPastError: the recording began with beliefs that do not hold it.
    """
    if recent is None:
        raise UnknownPastError(
            f"the recording does not tell when {arm!r} last fired or succeeded before it"
            " began, so it cannot be ranked by the full score: export the session again"
            " from its log, or compare by rank=similarity_confidence"
        )
    return recent
