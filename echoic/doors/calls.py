"""The services' catalogue: what may be called, with what, and what is replied.

The subscriptions, the AsyncAPI document and the page on services are made from it.
"""

from dataclasses import dataclass

from echoic.doors import replies, requests
from echoic.doors.requests import Asked
from schemas.messages.characters import ReflectionRequested
from schemas.messages.controls import Control, HeuristicSeeded
from schemas.messages.executive import (
    FactStated,
    OutputInterrupted,
    OutputRequested,
    PersonalitySelected,
    ReminderSet,
    SalienceModulated,
    SkillLoaded,
    SkillUnloaded,
    TraitAdjusted,
)
from schemas.messages.feedback import FeedbackGiven


@dataclass(frozen=True, slots=True)
class Service:
    """A service: `svc.<agent>.<name>`."""

    name: str
    """The rest of its subject; it may have several tokens."""
    meaning: str
    request: type[Asked] | None
    """None: any control, whose name the body has."""
    reply: type[replies.ReplyStruct]
    """Of a call that is not refused."""
    command: str
    """The command that does the same."""
    seed: str = ""
    """What the source design calls it."""

    @property
    def control(self) -> str | None:
        """The token of the control that it sends; None: it sends another input, or none."""
        request = self.request
        if request is None or not issubclass(request, Control):
            return None
        return request.token

    @property
    def subject(self) -> str:
        """Its subject for any agent."""
        return f"svc.*.{self.name}"


CALLS = (
    Service(
        "message",
        "A person's words; the reply is the response, or why there is none.",
        requests.UserMessage,
        replies.Response,
        "echoic pub --wait TEXT",
        "UserMessage",
    ),
    Service(
        "sense",
        "An event; the reply acknowledges that it is kept, and comes before any decision.",
        requests.EventToSense,
        replies.Acknowledged,
        "echoic pub TEXT --source SOURCE --type TYPE",
        "StreamSalientEvents",
    ),
    Service(
        "process",
        "An event; the reply is the decision on it, once it is final.",
        requests.EventToDecide,
        replies.Response,
        "echoic pub --wait TEXT --source SOURCE --type TYPE",
        "ProcessEvent",
    ),
    Service(
        "feedback",
        "A vote on a decision or a heuristic, by which confidence moves.",
        FeedbackGiven,
        replies.Recorded,
        "echoic feedback",
        "ProvideFeedback, UpdateHeuristicConfidence",
    ),
    Service(
        "modulate",
        "Have a topic, a source or a type of event matter more or less.",
        SalienceModulated,
        replies.Recorded,
        "echoic salience set",
        "Modulate",
    ),
    Service(
        "emit",
        "Say a text in these words, as far as the limits allow; `decision` tells.",
        OutputRequested,
        replies.Recorded,
        "echoic emit TEXT",
        "Emit",
    ),
    Service(
        "output",
        "What is being spoken, what is to be, and what was cut off.",
        requests.Nothing,
        replies.OutputReply,
        "echoic output",
        "OutputRouter.GetState",
    ),
    Service(
        "interrupt",
        "Stop what is being said.",
        OutputInterrupted,
        replies.Recorded,
        "echoic interrupt",
        "Interrupt",
    ),
    Service(
        "state",
        "What is known of an agent.",
        requests.Nothing,
        replies.StateReply,
        "echoic state",
        "GetState",
    ),
    Service(
        "personality",
        "The traits in force, and what moves them.",
        requests.OfPersonAsked,
        replies.PersonalityReply,
        "echoic personality show",
        "GetPersonality",
    ),
    Service(
        "personality.set",
        "Make another template the personality.",
        PersonalitySelected,
        replies.Recorded,
        "echoic personality use NAME",
        "SetPersonality",
    ),
    Service(
        "trait.adjust",
        "Move a trait, for a while or until taken back.",
        TraitAdjusted,
        replies.Recorded,
        "echoic trait set NAME AMOUNT",
        "AdjustTrait",
    ),
    Service(
        "skill.load",
        "Enable a skill.",
        SkillLoaded,
        replies.Recorded,
        "echoic skill load NAME",
        "LoadSkill",
    ),
    Service(
        "skill.unload",
        "Disable a skill.",
        SkillUnloaded,
        replies.Recorded,
        "echoic skill unload NAME",
        "UnloadSkill",
    ),
    Service(
        "reminders",
        "What is to be said at its time.",
        requests.OfPersonAsked,
        replies.RemindersReply,
        "echoic remind list",
    ),
    Service(
        "reminder.set",
        "Have something said at a time, or take that back.",
        ReminderSet,
        replies.Recorded,
        "echoic remind TEXT --in SPAN",
    ),
    Service(
        "facts",
        "What was stated.",
        requests.FactsAsked,
        replies.FactsReply,
        "echoic fact list",
    ),
    Service(
        "fact.state",
        "State a fact, correct it, or have it forgotten.",
        FactStated,
        replies.Recorded,
        "echoic fact set",
    ),
    Service(
        "heuristics",
        "Heuristics: all, one by its id, or those like an event.",
        requests.HeuristicsAsked,
        replies.HeuristicsReply,
        "echoic heuristic list",
        "QueryHeuristics",
    ),
    Service(
        "heuristic",
        "One heuristic.",
        requests.HeuristicAsked,
        replies.HeuristicReply,
        "echoic heuristic show ID",
        "GetHeuristic",
    ),
    Service(
        "heuristic.store",
        "Teach a heuristic.",
        HeuristicSeeded,
        replies.Recorded,
        "echoic heuristic seed",
        "StoreHeuristic",
    ),
    Service(
        "reflection",
        "Have an autonomous character look back on what it did, or review how it decided.",
        ReflectionRequested,
        replies.Recorded,
        "echoic reflect",
        "TriggerReflection",
    ),
    Service(
        "control",
        "Any control: `control` names it, then its fields.",
        None,
        replies.Recorded,
        "each command that changes something",
    ),
)

BY_NAME = {each.name: each for each in CALLS}
