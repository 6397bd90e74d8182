"""Soured: a person did not like what was just said, so for a while more must matter.

Within 60 s of a response a negative sentiment, vote or undo raises the threshold by 0.2 for
ten minutes. It is a rule, so it is recorded as an inferred control, listed and undone as
what somebody asked for.
"""

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from projections.folds.executive import modulations
from schemas.messages.executive import SalienceModulated, UserStateChanged
from schemas.messages.learning import FeedbackApplied
from schemas.messages.sensing import PERSON, Sensed

_WITHIN_S = 60.0
_RAISED = 0.2
_FOR_S = 600.0


def by_event(turn: TurnContext, event: Sensed, *, is_undo: bool) -> None:
    """Notice what an event feels like to its person, or that it undoes advice."""
    feels = event.feels(turn.settings.executive.feeling)
    if is_undo or (feels is not None and feels < 0.0):
        _soured(turn, event.person)


def by_vote(turn: TurnContext, vote: FeedbackApplied) -> None:
    """Notice a vote against what was said."""
    if vote.value < 0.0:
        # Who votes without a name is nobody in particular.
        _soured(turn, None if vote.actor == PERSON else vote.actor)


def by_state(turn: TurnContext, message: object) -> None:
    """Notice how a person feels, as a control tells it."""
    if isinstance(message, UserStateChanged) and (message.sentiment or 0.0) < 0.0:
        _soured(turn, message.person)


def _soured(turn: TurnContext, person: str | None) -> None:
    if not turn.settings.executive.modulates:
        return
    said = [each.at for each in turn.state.executive.sayings.said[-1:]]
    if not said or not 0.0 <= (turn.now - said[0]).total_seconds() <= _WITHIN_S:
        return
    control = SalienceModulated(
        change="threshold",
        amount=_RAISED,
        for_s=_FOR_S,
        person=person,
        by=modulations.SENTIMENT,
    )
    infer(turn, control, "rule", after=None)
