"""Milestones: the hundredth of its kind is worth a word.

It is said by a reminder of a second later, so after the answer to the event itself, and not
while the person is busy.
"""

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from projections.folds.executive import milestones
from schemas.messages.executive import ReminderSet
from schemas.messages.sensing import Sensed
from schemas.values.prompt_fencing import shown

_SOON_S = 1.0


def noted(turn: TurnContext, event: Sensed) -> None:
    """Have a milestone said that the event just decided on has reached."""
    domain = turn.appearance.domain
    declared = domain.event_type
    if declared is None or not declared.milestones:
        return
    held = turn.state.executive.counters
    for key, milestone, value in milestones.keys(
        declared.milestones, domain.name, event
    ):
        count = held.get(key) or 0
        if count in milestone.counts:
            text = milestone.text.replace("{count}", str(count))
            control = ReminderSet(
                text=text.replace("{value}", shown(value, len(value))),
                in_s=_SOON_S,
                person=event.person,
                by=event.source,
                purpose="milestone",
            )
            infer(turn, control, "rule", after=f"{key} is {count}"[:500])
