"""Inferring a control: what a person says, or a rule of ours, changes how the mind behaves.

A person's words can make no control input, so the change is an output, `ControlInferred`;
it passes the same checks, and is folded as the control that it carries.
"""

from functools import partial
from typing import Literal

from handlers.mind.context import TurnContext
from handlers.mind.stages import controls
from handlers.mind.strategies import registry
from schemas.codec.catalogue import ControlMessage
from schemas.messages.characters import AimsSet, PlanSet
from schemas.messages.controls import GoalsSet, ProposalSubmitted
from schemas.messages.executive import ReminderSet
from schemas.messages.notes import ControlInferred, ControlRefused

By = Literal["pattern", "rule", "model", "talker", "executor", "single"]


_MODELS: tuple[By, ...] = ("model", "talker", "executor", "single")
_OF_MODELS = (GoalsSet, ReminderSet, ProposalSubmitted, AimsSet, PlanSet)
"""What a model may infer: never settings, mutes, packs, strategies or the end of speech."""


def infer(
    turn: TurnContext,
    control: ControlMessage,
    by: By,
    *,
    before: str = "",
    after: str = "",
) -> str | ControlRefused:
    """Emit that a control was inferred, and return its id; or the refusal, not emitted."""
    if by in _MODELS and not isinstance(control, _OF_MODELS):
        return ControlRefused(
            control=control.token, reason="unfit", detail=f"a {by} may not infer it"
        )
    answer = controls.answer(
        turn.state,
        turn.packs,
        turn.input.agent,
        control,
        turn.aids,
        partial(registry.problem, settings=turn.settings),
        settings=turn.settings,
    )
    if isinstance(answer, ControlRefused):
        return answer
    inferred = ControlInferred(
        control=control.token,
        fields=control.as_fields(),
        by=by,
        source_id=turn.input.id,
        before=before,
        after=after,
    )
    return turn.emit(inferred)
