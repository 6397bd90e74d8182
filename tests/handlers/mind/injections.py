"""Texts that try to be more than data, and a scenario in which one stands everywhere."""

import re
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from echoic.packs import personalities, phrases
from echoic.packs import skills as shipped
from handlers.mind.turn import Turn
from schemas.messages.controls import GoalsSet, HeuristicSeeded, ProfileSet
from schemas.messages.executive import (
    FactStated,
    ReminderSet,
    SkillLoaded,
    UserStateChanged,
)
from schemas.messages.results import ClockTicked
from schemas.values.text_form import normalized
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario

_FILE = Path(__file__).parents[2] / "fixtures" / "injections.yaml"
_LONG = "very " * 500


def _texts() -> dict[str, str]:
    kinds = YAML(typ="safe").load(_FILE.read_text(encoding="utf-8"))
    return {
        f"{kind}-{place}": normalized(text.replace("{long}", _LONG))
        for kind, texts in kinds.items()
        for place, text in enumerate(texts)
    }


TEXTS = _texts()
"""By kind and place in the file, in the form in which they are read."""

HARMLESS = "the kettle sings a song"

SKILLS: tuple[dict[str, Any], ...] = (
    {
        "name": "place",
        "kind": "capability",
        "provides": {"user.place": {"type": "moved", "field": "where"}},
    },
    {
        "name": "way",
        "kind": "domain",
        "requires": ["user.place"],
        "knowledge": "There is a way.",
        "lines": [{"texts": ["{text} At {where}, near {user.place}."]}],
    },
)
GARDEN = pack(
    heuristic("low", "health is low", "Rest.", 0.9),
    heuristic("owl", "an owl is heard", "Listen.", 0.1),
    types=("vital", "moved", "message"),
    events=[
        {
            "type": "mined",
            "milestones": [
                {"field": "item", "counts": [1], "text": "{value}! {count}"}
            ],
        }
    ],
    skills=SKILLS,
)


def alive(*, recall: bool = False) -> Scenario:
    """A scenario with everything on that reads what others wrote, and a person's goal."""
    # The same beginning for all of them: its state is never changed in place.
    scenario = copy(_begun(recall=recall))
    scenario.turns = list(scenario.turns)
    return scenario


@cache
def _begun(*, recall: bool) -> Scenario:
    executive = plain_executive(
        phrases=phrases.shipped(("en", "de")),
        skills=shipped.shipped(),
        templates=personalities.shipped(),
        prompt_tokens=8_000,
        recall=recall,
        consistent=True,
        stream=True,
        timing=True,
        relevance=True,
        modulates=True,
        situated=True,
    )
    scenario = Scenario(
        GARDEN,
        relevance=0.0,
        model=factories.MODEL,
        formation=True,
        endorsement=True,
        executive=executive,
    )
    scenario.control(GoalsSet(goals=("Be well.",)))
    scenario.control(SkillLoaded(skill="garden/place"))
    return scenario


@cache
def attacked(text: str) -> Scenario:
    """A scenario in which a text stands wherever others may write, and Ada asks at the end.

    Tests share it, and only look at it.
    """
    scenario = alive()
    name = text[:200]
    for control in (
        ProfileSet(person="ada", name=name, address=name, language=name),
        FactStated(subject="ada", relation=name, object=text[:1_000]),
        FactStated(subject=name, relation="is", object="here", person="ada"),
        UserStateChanged(person="ada", activity=name, focus=text[:500]),
        ReminderSet(text=text[:2_000], in_s=5.0, person="ada", by=name),
        HeuristicSeeded(
            heuristic_id="h",
            name=name,
            domain="garden",
            condition="an owl is heard",
            text=text[:2_000],
            confidence=0.1,
        ),
        HeuristicSeeded(
            heuristic_id="k",
            name="k",
            domain="garden",
            condition=text[:1_000],
            text="Hush.",
            confidence=0.1,
        ),
    ):
        scenario.wait(1).control(control)
    scenario.wait(10).tell(ClockTicked(due_at=scenario.at))
    _happened(scenario, text)
    says(scenario.wait(600), "well then")
    return scenario


def _happened(scenario: Scenario, text: str) -> None:
    """Let sensors tell the text, and a model answer with it."""
    fields = {"note": text, "where": text, "item": text, text[:50]: 1}
    scenario.wait(60).sense("you went", type_="moved", fields={"where": text})
    scenario.wait(60).sense("one was mined", type_="mined", fields=fields)
    scenario.wait(10).tell(ClockTicked(due_at=scenario.at))
    scenario.wait(60).sense("an owl is heard", type_="vital")
    told = scenario.wait(60).sense(
        text, person="ada", entities=(text[:200],), fields=fields, reason=text[:500]
    )
    scenario.wait(1).answer_model(told, text, predicted_success=0.5)
    voiced = scenario.wait(60).sense("health is low", person="ada", fields=fields)
    # Control characters in a name are refused at every door.
    actor = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", text)[:200].strip() or "user"
    scenario.wait(1).feedback(voiced, "positive", actor=actor, comment=text[:500])


def says(scenario: Scenario, text: str) -> Turn:
    """Ada says so."""
    return scenario.sense(text, source="user", type_="message", person="ada")
