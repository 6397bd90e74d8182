"""`hybrid`: ask the model, and let a trusted heuristic answer if it is late."""

from typing import ClassVar

from pydantic import Field

from handlers.mind.strategies.exploration import criticality
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.messages.arms import race_arm
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds


class Hybrid(HeuristicFirst):
    """Ask the model; a trusted heuristic answers if it has not by the deadline.

    The race is one arm. Where there is no model, no time for one, or no heuristic to be
    trusted, it is `heuristic_first`. A model that fails has lost; one that chooses to say
    nothing has answered. The deadline is a timer of the agent's time: in a session on the
    clock of its events it runs out with the next event, however late.
    """

    name: ClassVar[str] = "hybrid"
    version: ClassVar[int] = 1

    deadline_ms: int = Field(default=400, ge=1, le=600_000)
    """How long the model is waited for."""

    def odds(
        self, context: DecisionContext, pool: tuple[HeuristicCandidate, ...]
    ) -> Odds:
        """Return all the probability on the race, else as `heuristic_first`."""
        odds = super().odds(context, pool)
        # Only a trusted heuristic may stand by: else `heuristic_first` chose the model
        # alone.
        if not pool or odds.greedy != pool[0].arm:
            return odds
        if context.llm_arm is None or not context.immediate:
            return odds
        # What is critical is answered at once, and not after a deadline.
        if criticality(context, pool[0].arm) is not None:
            return odds
        race = race_arm(context.llm_arm, pool[0].arm, self.deadline_ms)
        return Odds.certain(race, odds.silence, *odds.gates)
