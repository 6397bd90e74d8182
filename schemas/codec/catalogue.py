"""The catalogue of every message that the log may hold, by kind and token."""

from typing import TypeAlias, get_args

from schemas.messages import (
    asks,
    characters,
    controls,
    conversations,
    decisions,
    executive,
    feedback,
    learning,
    notes,
    results,
    sensing,
    sleep,
)
from schemas.values.base import MessageType
from schemas.values.unicode_text import quoted

_ExecutiveControl: TypeAlias = (
    executive.Muted
    | executive.SalienceModulated
    | executive.UserStateChanged
    | executive.BreakSignalled
    | executive.ContextSwitched
    | executive.TraitAdjusted
    | executive.PersonalitySelected
    | executive.SkillLoaded
    | executive.SkillUnloaded
    | executive.FactStated
    | executive.ReminderSet
    | executive.OutputInterrupted
    | executive.PersonsGranted
    | executive.OutputRequested
)
ControlMessage: TypeAlias = (
    controls.MindStarted
    | controls.SegmentClosed
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
    | controls.PersonForgotten
    | characters.AimsSet
    | characters.PlanSet
    | characters.ReflectionRequested
    | _ExecutiveControl
)
EffectResult: TypeAlias = (
    results.ModelAnswered
    | results.ModelFailed
    | results.Delivered
    | results.DeliveryFailed
    | results.DeliveryInterrupted
    | results.Recalled
    | results.RecallFailed
    | results.TurnGranted
    | results.TurnFailed
)
ResultMessage: TypeAlias = EffectResult | results.DeliveryBegun
InputMessage: TypeAlias = (
    sensing.Sensed
    | feedback.FeedbackGiven
    | ControlMessage
    | results.ClockTicked
    | ResultMessage
)
_DecisionMessage: TypeAlias = (
    decisions.Decided | decisions.Completed | decisions.Dropped | decisions.Held
)
AskMessage: TypeAlias = (
    asks.ModelAsked | asks.DeliveryAsked | asks.RecallAsked | asks.TurnAsked
)
_OutcomeMessage: TypeAlias = (
    learning.OutcomeObserved | learning.OutcomeExpired | learning.AdviceIgnored
)
LearningMessage: TypeAlias = (
    learning.FeedbackApplied
    | learning.FeedbackRefused
    | learning.LifecycleChanged
    | learning.DriftRaised
    | learning.TrustChanged
    | learning.ProposalMade
    | learning.HeuristicFormed
    | learning.CandidateRefused
    | learning.HeuristicReinforced
    | learning.Endorsed
    | learning.SilenceWeighed
    | learning.InsightFormed
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
    | notes.ControlInferred
    | notes.OpportunityDrawn
    | conversations.ConversationMoved
)
OutputMessage: TypeAlias = (
    _DecisionMessage
    | decisions.HeuristicFired
    | AskMessage
    | asks.StopAsked
    | asks.WakeupSet
    | _OutcomeMessage
    | LearningMessage
    | NoteMessage
)

# The members of a union of unions are its messages, in the order in which they stand there.
INPUTS: tuple[MessageType, ...] = get_args(InputMessage)
OUTPUTS: tuple[MessageType, ...] = get_args(OutputMessage)
EXECUTIVE_TOKENS = frozenset(each.token for each in get_args(_ExecutiveControl))
"""The tokens of the executive's controls, which older logs do not know."""


def by_token(*models: MessageType) -> dict[tuple[str, str], MessageType]:
    """Index the messages by kind and token.

    Raises:
        TypeError: a message declares no token, or one that another of its kind has.
    """
    found: dict[tuple[str, str], MessageType] = {}
    for model in models:
        # Not `hasattr`: an inherited token would give two messages one name on the log.
        if "token" not in vars(model):
            raise TypeError(
                f"{model.__name__} declares no `token: ClassVar[str]`: its name on the log"
            )
        other = found.setdefault((model.kind, model.token), model)
        if other is not model:
            raise TypeError(
                f"{model.__name__} and {other.__name__} have the same token"
                f" {quoted(model.token)}"
            )
    return found


# Indexed on import, so that a token used twice fails at once and not in a log.
_BY_TOKEN = by_token(*INPUTS, *OUTPUTS)


def message_type(kind: str, token: str) -> MessageType | None:
    """Return the model of the messages of this kind and token, if there is one."""
    return _BY_TOKEN.get((kind, token))
