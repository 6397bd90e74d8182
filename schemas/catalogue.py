"""Every message there is, by kind and token: what the log may hold."""

from typing import TypeAlias

from schemas import (
    asks,
    controls,
    decisions,
    feedback,
    learning,
    notes,
    results,
    sensing,
    sleep,
)
from schemas.message import Message

ControlMessage: TypeAlias = (
    controls.MindStarted
    | controls.MessagesLost
    | controls.SessionStarted
    | controls.SessionEnded
    | controls.GoalsSet
    | controls.PackLoaded
    | controls.StrategySelected
    | controls.HeuristicSeeded
    | controls.HeuristicEdited
    | controls.HeuristicFrozen
    | controls.SleepRequested
    | controls.PriorUpdated
    | controls.ProfileSet
    | controls.ProposalSubmitted
    | controls.ProposalApplied
    | controls.ProposalReverted
    | controls.ExperimentStarted
    | controls.ExperimentStopped
)
ResultMessage: TypeAlias = (
    results.ModelAnswered
    | results.ModelFailed
    | results.Delivered
    | results.DeliveryFailed
)
InputMessage: TypeAlias = (
    sensing.Sensed
    | feedback.FeedbackGiven
    | ControlMessage
    | results.ClockTicked
    | ResultMessage
)
DecisionMessage: TypeAlias = decisions.Decided | decisions.Completed | decisions.Dropped
AskMessage: TypeAlias = asks.ModelAsked | asks.DeliveryAsked
OutcomeMessage: TypeAlias = (
    learning.OutcomeObserved | learning.OutcomeExpired | learning.AdviceIgnored
)
LearningMessage: TypeAlias = (
    learning.FeedbackApplied
    | learning.FeedbackRefused
    | learning.LifecycleChanged
    | learning.DriftRaised
    | learning.ProposalMade
    | learning.HeuristicFormed
    | learning.CandidateRefused
    | learning.HeuristicReinforced
    | learning.Endorsed
    | learning.SilenceWeighed
    | sleep.SleepBegun
    | sleep.Reflected
    | sleep.SleepEnded
)
NoteMessage: TypeAlias = (
    notes.Quarantined
    | notes.ControlApplied
    | notes.ControlRefused
    | notes.Handled
    | notes.TimerFailed
)
OutputMessage: TypeAlias = (
    DecisionMessage
    | decisions.HeuristicFired
    | AskMessage
    | OutcomeMessage
    | LearningMessage
    | NoteMessage
)

INPUTS: tuple[type[Message], ...] = (
    sensing.Sensed,
    feedback.FeedbackGiven,
    controls.MindStarted,
    controls.MessagesLost,
    controls.SessionStarted,
    controls.SessionEnded,
    controls.GoalsSet,
    controls.PackLoaded,
    controls.StrategySelected,
    controls.HeuristicSeeded,
    controls.HeuristicEdited,
    controls.HeuristicFrozen,
    controls.SleepRequested,
    controls.PriorUpdated,
    controls.ProfileSet,
    controls.ProposalSubmitted,
    controls.ProposalApplied,
    controls.ProposalReverted,
    controls.ExperimentStarted,
    controls.ExperimentStopped,
    results.ClockTicked,
    results.ModelAnswered,
    results.ModelFailed,
    results.Delivered,
    results.DeliveryFailed,
)
OUTPUTS: tuple[type[Message], ...] = (
    decisions.Decided,
    decisions.Completed,
    decisions.Dropped,
    decisions.HeuristicFired,
    asks.ModelAsked,
    asks.DeliveryAsked,
    learning.OutcomeObserved,
    learning.OutcomeExpired,
    learning.AdviceIgnored,
    learning.FeedbackApplied,
    learning.FeedbackRefused,
    learning.LifecycleChanged,
    learning.DriftRaised,
    learning.ProposalMade,
    learning.HeuristicFormed,
    learning.CandidateRefused,
    learning.HeuristicReinforced,
    learning.Endorsed,
    learning.SilenceWeighed,
    sleep.SleepBegun,
    sleep.Reflected,
    sleep.SleepEnded,
    notes.Quarantined,
    notes.ControlApplied,
    notes.ControlRefused,
    notes.Handled,
    notes.TimerFailed,
)

_BY_TOKEN: dict[tuple[str, str], type[Message]] = {
    (model.kind, model.token()): model for model in (*INPUTS, *OUTPUTS)
}


def message_type(kind: str, token: str) -> type[Message] | None:
    """The model of the messages of this kind and token, if there is one."""
    return _BY_TOKEN.get((kind, token))
