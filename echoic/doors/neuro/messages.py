"""What a game sends by the Neuro API: one model for each command.

Of the API's specification (github.com/VedalAI/neuro-sdk, API/SPECIFICATION.md). It knows no
answer to what is wrong, so that is passed over.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter
from pydantic_core import from_json

from schemas.codec.decode import NESTING_LIMIT, depth

MOST_ACTIONS = 1_000
"""Actions of a game that are remembered at once."""

_ActionName = Annotated[str, Field(min_length=1, max_length=200)]
_Words = Annotated[str, Field(max_length=100_000)]


class GameAction(BaseModel):
    """Something that the game can do."""

    name: _ActionName
    description: _Words = ""
    form: dict[str, Any] | None = Field(default=None, alias="schema")
    """A JSON Schema of its data; none, or an empty one: it has no data."""


class _Message(BaseModel):
    game: Annotated[str, Field(max_length=200)]


class Startup(_Message):
    """The game begins, and knows of no action yet."""

    command: Literal["startup"]


class _Told(BaseModel):
    message: _Words
    silent: bool = False


class Context(_Message):
    """Something happens in the game."""

    command: Literal["context"]
    data: _Told


class _Registered(BaseModel):
    actions: list[GameAction] = Field(max_length=MOST_ACTIONS)


class Register(_Message):
    """The game can do this from now on."""

    command: Literal["actions/register"]
    data: _Registered


class _Unregistered(BaseModel):
    action_names: list[str]


class Unregister(_Message):
    """The game cannot do this any more."""

    command: Literal["actions/unregister"]
    data: _Unregistered


class Forced(BaseModel):
    """What has to be chosen, and of what."""

    state: _Words | None = None
    query: _Words
    ephemeral_context: bool = False
    priority: Literal["low", "medium", "high", "critical"] = "low"
    action_names: list[str] = Field(min_length=1, max_length=MOST_ACTIONS)


class Force(_Message):
    """One of these actions has to be done now."""

    command: Literal["actions/force"]
    data: Forced


class Outcome(BaseModel):
    """How an action went; a forced one that failed is chosen again."""

    id: str
    success: bool
    message: _Words | None = None


class Result(_Message):
    """An action was looked at, or done."""

    command: Literal["action/result"]
    data: Outcome


FromGame = Startup | Context | Register | Unregister | Force | Result

_FROM: TypeAdapter[FromGame] = TypeAdapter(
    Annotated[FromGame, Field(discriminator="command")]
)


def read(text: str | bytes) -> FromGame:
    """Read what a game sent.

    Raises:
        ValueError: it is no such message.
    """
    if isinstance(text, bytes):
        raise ValueError("messages are text")
    told = from_json(text, allow_inf_nan=False)
    if depth(told) > NESTING_LIMIT:
        raise ValueError(f"nested deeper than {NESTING_LIMIT} levels")
    return _FROM.validate_python(told)
