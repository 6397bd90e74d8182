"""Conversations of several, as the place that owns them keeps and records them."""

from typing import ClassVar

from schemas.values.base import (
    Kind,
    Message,
    MessagePart,
    Moment,
    Name,
    Personal,
    written,
)


class SpokenLine(MessagePart, frozen=True, kw_only=True):
    """Something that was said in a conversation."""

    speaker: Name
    text: Personal


class ReadyWords(MessagePart, frozen=True, kw_only=True):
    """What somebody has ready to say."""

    speaker: Name
    text: Personal
    seconds: float
    """How long it takes to say."""
    goodbye: bool | None = None
    """Whether the speaker leaves with it."""


class Speech(MessagePart, frozen=True, kw_only=True):
    """What is being said."""

    words: ReadyWords
    since: Moment
    until: Moment


class Conversation(MessagePart, frozen=True, kw_only=True):
    """A conversation: who takes part, who speaks, and who is next."""

    id: Name
    """The event that began it."""
    members: tuple[Name, ...] = written(())
    """Who spoke in it and has not left, in the order they came."""
    speech: Speech | None = None
    """None: nobody speaks."""
    is_asked: bool = written(False)
    """Whether the hearers of the speech were asked what they say to it."""
    asked: tuple[Name, ...] = written(())
    """The hearers who were, the likeliest to answer first."""
    told: tuple[Name, ...] = written(())
    """Who has heard the last speech."""
    ready: tuple[ReadyWords, ...] = written(())
    """What is to be said next, as it came."""
    quiet_since: Moment | None = None
    """Since when nobody speaks."""
    lines: tuple[SpokenLine, ...] = written(())
    """The latest that was said, oldest first."""
    speeches: int = written(0)
    """How many were begun."""


class ConversationMoved(Message, frozen=True, kw_only=True):
    """A conversation is another than before."""

    kind: ClassVar[Kind] = "note"
    token: ClassVar[str] = "conversation_moved"

    conversation_id: Name
    what: tuple[Personal, ...] = written(())
    """What happened, in words."""
    after: Conversation | None = None
    """None: it is over."""
