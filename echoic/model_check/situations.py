"""The situations of characters that a model is checked by, as prompts.

They are data in a file beside this one; the prompts are the ones that the mind itself makes.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from echoic.packs.yaml_positions import read
from handlers.mind.characters import prompts as layer_prompts
from handlers.mind.characters import replies
from handlers.mind.characters.replies import Unreadable
from handlers.mind.characters.talker import prompt
from schemas.messages.characters import Aim
from schemas.packs.characters import CharacterMind
from schemas.packs.layers import Talker
from schemas.state.character import Character
from schemas.values.base import Name, Part

FILE = Path(__file__).with_name("villagers.yaml")


class Situation(Part):
    """A moment in the life of a character."""

    name: Name
    character: Name
    fields: dict[str, Any]
    """What its body tells: needs by name, and what stands in the prompt's lines."""
    doing: str | None = None
    aims: tuple[Aim, ...] = ()


class _Village(Part):
    """What the file holds."""

    mind: CharacterMind
    characters: dict[Name, str]
    """Who each is, for the model."""
    situations: tuple[Situation, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a reply is worth to the layer that asked."""

    is_json: bool
    """Whether a JSON object could be read from it, be there prose around it or not."""
    is_bare: bool
    """Whether it is nothing else."""
    names_action: bool
    is_valid: bool
    """Whether it could be understood, and its action, if it names one, was offered."""
    problem: str | None = None
    """What of it was refused, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a layer's model is asked in a situation."""

    situation: str
    system: str
    text: str
    tools: tuple[str, ...]

    def judge(self, reply: str) -> Verdict:
        """Return what a reply is worth, read as the mind reads it."""
        try:
            told = replies.read_object(reply)
        except Unreadable as error:
            nothing = {"is_json": False, "is_bare": False, "names_action": False}
            return Verdict(**nothing, is_valid=False, problem=str(error))
        is_named = told.get("action") is not None
        try:
            read_ = replies.read(reply, self.tools, village().mind.synonyms)
        except Unreadable as error:
            is_valid, problems = False, [str(error)]
        else:
            is_valid = read_.action is not None or not is_named
            problems = list(read_.refused)
        return Verdict(
            is_json=True,
            is_bare=_is_bare(reply),
            names_action=is_named,
            is_valid=is_valid,
            problem="; ".join(problems) or None,
        )


@cache
def village() -> _Village:
    """Return what the file of situations holds."""
    return _Village.model_validate(read(FILE).value)


def prompts() -> tuple[Prompt, ...]:
    """Return a prompt for each situation, in the file's order."""
    return tuple(map(_prompt, village().situations))


def calls_an_hour() -> float:
    """Return how often a sociable character asks its model in an hour of game time."""
    return 3_600.0 / _talker("").extrovert_s


def _prompt(situation: Situation) -> Prompt:
    mind, fields = village().mind, situation.fields
    who = _talker(village().characters[situation.character])
    return Prompt(
        situation=situation.name,
        system=layer_prompts.system(situation.character, who.who, prompt.FORM),
        text=prompt.moment(
            mind, who, Character(aims=situation.aims), fields, situation.doing
        ),
        tools=layer_prompts.offered(who.tools, fields),
    )


def _is_bare(reply: str) -> bool:
    try:
        json.loads(reply)
    except ValueError:
        return False
    return True


def _talker(who: str) -> Talker:
    layer = village().mind.talker
    assert layer is not None, "the file gives it a talker"
    return layer.model_copy(update={"who": who})
