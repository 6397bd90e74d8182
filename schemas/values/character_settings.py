"""The settings of characters: how their layers share the models that they ask."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Part
from schemas.values.setting import Setting

# Of a setting's declaration each part has its line, not each argument.
# fmt: off


class CharacterSettings(Part):
    """How characters ask their models."""

    turns: Annotated[bool, Setting("characters.turns")] = True
    """Whether talkers and executors wait for their turn before they ask a model: the most
    urgent first, and what a model is told is as things are then."""
    backs_off: Annotated[bool, Setting("characters.backs_off")] = True
    """Whether a reflex is held back for a while whose action failed, as its pack's
    `backoff` says."""
    falls_back: Annotated[bool, Setting("characters.falls_back")] = True
    """Whether a character is scripted without a model, and while its model failed, and says
    so: conditions find `scripted = true`."""
    call_gap_s: Annotated[
        float, Setting("characters.call_gap_s")
    ] = Field(default=0.25, ge=0.0, le=60.0)
    """How many seconds lie between two such turns, at least, whichever characters they are
    of; 0: none. In a world with a clock of its own none do."""
    talker_per_minute: Annotated[
        int, Setting("characters.talker_per_minute")
    ] = Field(default=0, ge=0, le=6_000)
    """How many turns a minute talkers have, all characters together; 0: any number."""
    executor_per_minute: Annotated[
        int, Setting("characters.executor_per_minute")
    ] = Field(default=0, ge=0, le=6_000)
    """How many turns a minute executors have, likewise."""
