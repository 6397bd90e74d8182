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
from schemas.messages.controls import MindStarted
from schemas.messages.notes import ControlApplied, ControlInferred, ControlRefused

By = Literal["pattern", "rule", "model", "talker", "executor", "single"]


_MODELS: tuple[By, ...] = ("model", "talker", "executor", "single")


def infer(
    turn: TurnContext,
    control: ControlMessage,
    by: By,
    *,
    after: str | None = "",
    is_wish: bool = False,
) -> str | ControlRefused:
    """Emit that a control was inferred, and return its id; or the refusal, not emitted.

    `after` is what is in force from here, in words; None: as the table of controls says it.
    `is_wish` tells that a person's own words ask a model for it.
    """
    row = controls.CHECKS[type(control)]
    may = row.by_model or (is_wish and row.by_wish(control))
    if by in _MODELS and not may:
        return ControlRefused(
            control=control.token, reason="unfit", detail=f"a {by} may not infer it"
        )
    answer = checked(turn, control)
    if isinstance(answer, ControlRefused):
        return answer
    inferred = ControlInferred(
        control=control.token,
        fields=control.as_fields(),
        by=by,
        source_id=turn.input.id,
        after=row.told(control) if after is None else after,
    )
    return turn.emit(inferred)


def checked(
    turn: TurnContext, control: ControlMessage
) -> ControlApplied | ControlRefused:
    """Return that a control is applied, or refused with the reason."""
    settings = turn.settings
    # The start of a mind admits strategies by the settings that it brings itself.
    by = control.settings if isinstance(control, MindStarted) else settings
    problem = partial(registry.problem, settings=by)
    case = controls.Case(
        turn.state, turn.packs, turn.input.agent, turn.aids, settings, problem
    )
    return controls.answer(case, control)
