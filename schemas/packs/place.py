"""The `place` of a pack's mind: an agent that owns the conversations of others."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Part, Seconds, Token

_Tiles = Annotated[float, Field(gt=0.0, le=1e6)]
Count = Annotated[int, Field(ge=1, le=1_000)]


class Place(Part):
    """How far one hears there and how conversations go; the numbers are the source design's."""

    said: Token = "said"
    """The type of event that tells what somebody says: its text; `agent`, `tokens`,
    `turn` and `goodbye` among its fields."""
    position: Token = "position"
    """That tells where somebody is: `agent`, `x`, `y`, `extraversion`."""
    left: Token = "left"
    """That tells that somebody leaves a conversation: `agent`."""
    gone: Token = "gone"
    """That tells that somebody is not there any more, or dead: `agent`."""
    hearing: _Tiles = 15.0
    """As far as that one hears; further from the middle of a conversation one leaves it."""
    tokens_per_s: Annotated[float, Field(gt=0.0, le=1_000.0)] = 2.0
    ahead_s: Annotated[float, Field(ge=0.0, le=60.0)] = 1.0
    """How long before the end of a speech its hearers are asked what they say to it."""
    at_once: Count = 4
    """How many of them, the likeliest to answer first (departure B32)."""
    silence_s: Seconds = 10.0
    """After how long without a word a conversation is over."""
    lines: Annotated[int, Field(ge=1, le=20)] = 5
    """How many of the latest lines somebody is told who comes to it."""
    longest: Count = 40
    """How many speeches a conversation has at most: none lasts for ever."""
    crowd: Annotated[int, Field(ge=2, le=100)] = 4
    """From how many members on a conversation draws extroverts, and drives introverts off."""
    crowd_force: Annotated[float, Field(ge=0.0, le=100.0)] = 0.3
    channel: Token = "talk"
    """Where it tells the world who says what, when they begin."""
