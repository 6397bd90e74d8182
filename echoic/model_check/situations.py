"""The situations of characters that a model is checked by, as prompts.

They are data in files beside this one, one for each layer that asks a model; the prompts are
the ones that the mind itself makes, and answers are read as it reads them.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from immutables import Map
from pydantic import Field

from echoic.packs.yaml_positions import read
from handlers.mind.characters import prompts as layer_prompts
from handlers.mind.characters import replies
from handlers.mind.characters.autonomous import prompt as deciding
from handlers.mind.characters.autonomous import reply as choices
from handlers.mind.characters.executor import planning
from handlers.mind.characters.executor import prompt as executor
from handlers.mind.characters.replies import Unreadable
from handlers.mind.characters.talker import prompt
from projections.folds.characters.situations import surroundings
from schemas.messages.characters import Aim
from schemas.packs.characters import CharacterMind
from schemas.state.autonomy import Act
from schemas.state.character import NO_PLAN, Character
from schemas.values.base import Name, Part

Layer = Literal["talker", "executor", "autonomous"]
LAYERS = cast(tuple[Layer, ...], get_args(Layer))

_FILES: dict[Layer, str] = {
    "talker": "villagers.yaml",
    "executor": "planners.yaml",
    "autonomous": "wanderers.yaml",
}
_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


class Situation(Part):
    """A moment in the life of a character."""

    name: Name
    character: Name
    fields: dict[str, Any]
    """What its body tells: needs by name, and what stands in the prompt's lines."""
    doing: str | None = None
    aims: tuple[Aim, ...] = ()
    priorities: dict[str, float] = Field(default_factory=dict)
    reason: str = "idle"
    """Why an executor is asked."""
    acts: tuple[str, ...] = ()
    """What an autonomous character did lately, oldest first."""


class _File(Part):
    """What a file holds."""

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


_Understand = Callable[[str], tuple[bool, list[str]]]
"""Read a reply, and return whether something of what it names is done, and what is not, and
why; raises `Unreadable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a layer's model is asked in a situation."""

    situation: str
    system: str
    text: str
    tools: tuple[str, ...] = ()
    understand: _Understand = lambda _: (True, [])

    def judge(self, reply: str) -> Verdict:
        """Return what a reply is worth, read as the mind reads it."""
        try:
            told = replies.read_object(reply)
        except Unreadable as error:
            nothing = {"is_json": False, "is_bare": False, "names_action": False}
            return Verdict(**nothing, is_valid=False, problem=str(error))
        is_named = told.get("action") is not None
        try:
            is_done, problems = self.understand(reply)
            is_valid = is_done or not is_named
        except Unreadable as error:
            is_valid, problems = False, [str(error)]
        return Verdict(
            is_json=True,
            is_bare=_is_bare(reply),
            names_action=is_named,
            is_valid=is_valid,
            problem="; ".join(problems) or None,
        )


@cache
def known(layer: Layer) -> _File:
    """Return what the file of a layer's situations holds."""
    return _File.model_validate(read(Path(__file__).with_name(_FILES[layer])).value)


def prompts(layer: Layer = "talker") -> tuple[Prompt, ...]:
    """Return a prompt for each situation of a layer, in the file's order."""
    made = {"talker": _talks, "executor": _plans, "autonomous": _chooses}[layer]
    return tuple(map(made, known(layer).situations))


def calls_an_hour(layer: Layer = "talker") -> float:
    """Return how often a character asks its model in an hour of game time.

    A sociable talker by its cadence, an executor that has nothing but its periodic question,
    and an autonomous character by the mean of its interval.
    """
    mind = known(layer).mind
    if mind.talker is not None:
        return 3_600.0 / mind.talker.extrovert_s
    if mind.executor is not None:
        return 3_600.0 / mind.executor.periodic_s
    assert mind.autonomous is not None, "a file is of one of them"
    interval = mind.autonomous.interval
    return 3_600.0 / ((interval.least_s + interval.most_s) / 2)


def _talks(situation: Situation) -> Prompt:
    file, fields = known("talker"), situation.fields
    mind, layer = file.mind, file.mind.talker
    assert layer is not None, "the file gives it a talker"
    tools = layer_prompts.offered(layer.tools, fields)
    aims = Character(aims=situation.aims)

    def understand(reply: str) -> tuple[bool, list[str]]:
        found = replies.read(reply, tools, mind.synonyms)
        return found.action is not None, list(found.refused)

    who = file.characters[situation.character]
    return Prompt(
        situation=situation.name,
        system=layer_prompts.system(situation.character, who, prompt.FORM),
        text=prompt.moment(mind, layer, aims, fields, situation.doing),
        tools=tools,
        understand=understand,
    )


def _plans(situation: Situation) -> Prompt:
    file, fields = known("executor"), situation.fields
    layer, tactics = file.mind.executor, file.mind.tactics
    assert layer is not None, "the file gives it an executor"
    assert tactics is not None, "an executor has tactics"
    tools = layer_prompts.offered(layer.tools, fields)
    character = Character(aims=situation.aims, priorities=Map(situation.priorities))
    means = planning.Means(tactics, tools, file.mind.synonyms, fields)

    def understand(reply: str) -> tuple[bool, list[str]]:
        wanted = planning.read(reply, NO_PLAN, means)
        is_set = wanted.priorities is not None or wanted.waits
        return bool(wanted.tasks or wanted.builds or is_set), wanted.refused

    who = file.characters[situation.character]
    return Prompt(
        situation=situation.name,
        system=layer_prompts.system(situation.character, who, executor.FORM),
        text=executor.moment(
            tactics, layer, character, fields, situation.doing, situation.reason
        ),
        tools=tools,
        understand=understand,
    )


def _chooses(situation: Situation) -> Prompt:
    how = known("autonomous").mind.autonomous
    assert how is not None, "the file makes it autonomous"
    here = surroundings(how, situation.fields)
    acts = [
        Act(
            decision_id="check", at=_LONG_AGO, action=each, by="model", situation="",
            outcome="succeeded",
        )
        for each in situation.acts
    ]  # fmt: skip

    def understand(reply: str) -> tuple[bool, list[str]]:
        choice = choices.read(reply, how, here, acts)
        return choice.action is not None, [choice.fault] if choice.fault else []

    return Prompt(
        situation=situation.name,
        system=deciding.system(situation.character, how),
        text=deciding.prompt(how, here, acts),
        understand=understand,
    )


def _is_bare(reply: str) -> bool:
    try:
        json.loads(reply)
    except ValueError:
        return False
    return True
