"""Asks: the mind's commands to the effects, answered later by results."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from schemas.messages.arms import Action, Arm, Chained
from schemas.values.base import (
    Kind,
    Message,
    MessagePart,
    Moment,
    Name,
    Personal,
    PersonalName,
    Seconds,
    Unit,
    written,
)
from schemas.values.reasons import Output, Path, ResponseType


class Ask(Message, frozen=True, kw_only=True):
    """A command to an effect; the message's id is the ask's."""

    kind: ClassVar[Kind] = "ask"

    decision_id: Name
    priority: float
    """Higher is served first: the effective salience, threats above all."""
    expires_at: Moment
    """When the answer is stale, in the agent's time."""
    ttl_s: Seconds
    """The same in seconds from the broker's time of this ask, by which effects count."""


class Rival(MessagePart, frozen=True, kw_only=True):
    """A heuristic that answers if the model has not by its deadline."""

    due_at: Moment
    """The model's deadline, in the agent's time."""
    llm_arm: Arm
    """The arm of the model that it competes with."""
    model: Name
    heuristic_id: Name
    content_hash: Name
    text: Annotated[Personal, Meta(min_length=1)]
    response_type: ResponseType
    action: Action | None = None
    urgency: Unit
    similarity: float
    confidence: Unit


class UnpredictedWords(MessagePart, frozen=True, kw_only=True):
    """A model's answer whose prediction is still to be asked for."""

    ask_id: Name
    model: str
    text: Personal
    agrees_with: tuple[Name, ...] | None = None
    """The heuristics shown to it that say the same."""
    agreement: tuple[float, ...] | None = None
    """The cosine of the answer with each of them."""
    chain: Chained | None = None
    action: Action | None = None
    """What it does besides."""


class ChatTurn(MessagePart, frozen=True, kw_only=True):
    """What was said before, as a turn of the chat with a model."""

    role: Literal["user", "assistant"]
    """`user`: the person who speaks; `assistant`: the companion."""
    text: Personal


CHARACTERS_PER_TOKEN = 4
"""How many characters a token is taken to have: about the mean of English texts."""


class ModelAsked(Ask, frozen=True, kw_only=True):
    """A call of the model."""

    token: ClassVar[str] = "model_asked"

    purpose: Literal[
        "answer",
        "prediction",
        "formation",
        "reflection",
        "talker",
        "executor",
        "single",
        "autonomous",
        "review",
    ] = written("answer")
    """`formation`: to make a heuristic of an answer that was liked; `reflection`: to decide
    again on an event of the past, or to make a heuristic of what was said each time;
    `talker`, `executor`: for that layer of a character; `single`: for both at once;
    `autonomous`: what to do next; `review`: to judge what it decided by itself."""
    model: Name
    system: Personal
    prompt: Personal
    turns: tuple[ChatTurn, ...] | None = None
    """What was said before by the person whose words it is asked about; None: these are no
    person's words, or it is told of the conversation in the prompt."""
    temperature: float
    max_tokens: int
    deadline_s: Seconds
    channel: Name
    """Where the answer will go."""
    response_type: ResponseType
    """What sort of response it will be."""
    urgency: Unit = written(0.0)
    matched_heuristic_id: str | None = None
    """The best candidate, which earns nothing by the model's answer."""
    request_hash: Name
    """Of model, system, prompt and sampling: what a replay finds the answer by."""
    prediction: Literal["separate", "off"] | None = None
    """How it is to predict the outcome of its answer; None: in the answer itself."""
    rival: Rival | None = None
    """Who answers if the model takes too long."""
    about: UnpredictedWords | None = None
    """What a prediction is asked about."""
    goals: tuple[Personal, ...] | None = None
    """The goals that it was told, if a prediction is asked for later and they are not
    those for every event."""
    domain: str | None = None
    """The domain whose pack supplies prompts, if a prediction is asked for later."""
    template_digest: str | None = None
    """Of the prompts that it is asked with, whatever the event."""
    stream: bool | None = None
    """Whether the words go out as they come, before the answer is whole."""
    acts: bool | None = None
    """Whether it was told what it may do besides speaking."""
    recall_id: str | None = None
    """The ask of the memory that came before it: what was remembered is in the prompt."""
    reason: str | None = None
    """Why a character's executor is asked: `goals_changed`, `task_complete`, `idle` or
    `periodic`; of `single` none if it is the talker's turn; why a character looks back:
    `actions`, `importance`, `decisions` or `asked`; None for the reflection of a sleep."""

    def estimated_tokens(self, *wrote: str) -> int:
        """Return how many tokens the call took by its characters and what was written."""
        before = (each.text for each in self.turns or ())
        told = (self.system, *before, self.prompt, *wrote)
        characters = sum(len(each) for each in told)
        return -(-characters // CHARACTERS_PER_TOKEN)

    @property
    def occasion(self) -> str:
        """What the prompt tells of what it is about, by which one that repeats it is known."""
        if self.turns is None:
            return self.prompt.partition("\n\n")[0]
        return "\n\n".join(self.prompt.split("\n\n")[-2:])

    @property
    def is_afterwards(self) -> bool:
        """Whether it is no part of a decision, but of what is learnt from some."""
        return self.purpose in ("formation", "reflection", "review")


class DeliveryAsked(Ask, frozen=True, kw_only=True):
    """A delivery of what the companion says to a channel."""

    token: ClassVar[str] = "delivery_asked"

    event_id: Name
    channel: Name
    text: Annotated[Personal, Meta(min_length=1)]
    response_type: ResponseType
    urgency: Unit
    path: Path
    action: Action | None = None
    output: Output | None = None
    """By which medium; None: as text, with an action if there is one."""
    voice: str | None = None
    """The voice that speaks; None: the speech channel's own."""
    speed: float | None = None
    """How fast; 1 as the voice does."""
    fallback_channel: str | None = None
    """Where it goes as text if it cannot be spoken."""


class RecallAsked(Ask, frozen=True, kw_only=True):
    """A search of the memory, for the prompt of the decision's model call."""

    token: ClassVar[str] = "recall_asked"

    query: Annotated[Personal, Meta(min_length=1)]
    """What is at hand, in words."""
    person: str | None = None
    """Only what concerns this person, or everybody."""
    entities: tuple[PersonalName, ...] = written(())
    limit: int = written(5)
    room: int | None = None
    """How many characters of the prompt the memories may take."""
    then: ModelAsked | None = None
    """The model's call as it is asked if nothing is remembered."""


class TurnAsked(Ask, frozen=True, kw_only=True):
    """A character's turn to ask its model, whose prompt is built once that is granted."""

    token: ClassVar[str] = "turn_asked"

    layer: Name
    """Who asks: `talker`, `executor` or `single`."""
    reason: str | None = None
    """As `ModelAsked.reason`."""
    gap_s: float = written(0.0)
    """How many seconds lie between two turns, at least, whoever has them."""
    per_minute: int = written(0)
    """How many turns a minute such layers have, all characters together; 0: any number."""


class StopAsked(Message, frozen=True, kw_only=True):
    """What takes time is to stop; its own result tells what came of it (ADR 0049)."""

    kind: ClassVar[Kind] = "ask"
    token: ClassVar[str] = "stop_asked"

    ask_id: Name
    """The delivery, or the model's call whose words went out as they came."""
    decision_id: Name
    channel: str | None = None
    """Where those words went, which are taken back; None for a delivery."""


class WakeupSet(Message, frozen=True, kw_only=True):
    """The agent has something to do at a time of its own; a world's clock may go so far."""

    kind: ClassVar[Kind] = "ask"
    token: ClassVar[str] = "wakeup_set"

    due_at: Moment | None = None
    """In the agent's time; None: it waits for what happens."""
