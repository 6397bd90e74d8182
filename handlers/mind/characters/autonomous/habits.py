"""Habits: whether a routine is done again here, or the model is asked all the same."""

from typing import Any

from msgspec import Struct

from handlers.mind.characters.autonomous import actions, chance
from handlers.mind.context import TurnContext
from projections.folds.characters import episodes, situations
from projections.folds.characters.situations import Surroundings
from schemas.messages.arms import ROUTINE, Action
from schemas.messages.decisions import Candidate, Draw
from schemas.packs.autonomous import Autonomous
from schemas.state.autonomy import Autonomy
from schemas.values import ids


class Habit(Struct, frozen=True):
    """A routine that fits here, and the draw between it and the model."""

    situation: str
    action: Action
    arm: str
    why: str
    explored: float
    draw: Draw | None

    @property
    def is_explored(self) -> bool:
        """Whether the model is asked all the same."""
        return self.explored >= 1.0 or (
            self.draw is not None and self.draw.value < self.explored
        )

    def odds(self, llm: str, *, is_explored: bool) -> dict[str, Any]:
        """Return the fields of a decision between the routine and the model's arm."""
        again = 1.0 - self.explored
        return {
            "candidates": (
                Candidate(arm=self.arm, probability=again),
                Candidate(arm=llm, probability=self.explored),
            ),
            "probability": self.explored if is_explored else again,
            "draw": self.draw,
            "exploration": "challenger" if self.explored else "none",
            "greedy_arm": self.arm,
        }


def find(
    turn: TurnContext, how: Autonomous, known: Autonomy, here: Surroundings
) -> Habit | None:
    """Return the routine for this situation, if it is trusted and can be done."""
    situation = situations.fingerprint(how, here, known.acts)
    routine, terms = known.routines.get(situation), how.routines
    if routine is None or not episodes.is_trusted(routine, terms):
        return None
    declared = how.action(routine.action)
    if declared is None or declared.by_command:
        return None
    target = _target_now(routine.target, here)
    target = actions.target(declared, here, target)
    if actions.problem(declared, here, known.acts, target) is not None:
        return None
    is_drawn = 0.0 < terms.explored < 1.0
    value = chance.value(turn, chance.ROUTINE)
    return Habit(
        situation=situation,
        action=Action(type=routine.action, target=target),
        arm=ROUTINE + ids.digest(situation.encode(), routine.action.encode()),
        why=f"worked {routine.successes} of {routine.uses} times here",
        explored=terms.explored,
        draw=Draw(purpose=chance.ROUTINE, value=value) if is_drawn else None,
    )


def _target_now(target: str | None, here: Surroundings) -> str | None:
    """Return the routine's target if it is near; what is nearest will do as well."""
    return target if target in {each.name for each in here.nearby} else None
