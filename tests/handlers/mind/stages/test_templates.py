"""Whose words a model is asked in: a strategy's, a pack's or the settings'."""

from typing import Any

from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.packs.compiled import CompiledPack
from tests.factories import MODEL, pack
from tests.scenario import Scenario, one

PARROT = {"system_prompt": "You are a parrot.", "prediction": "separate"}
HOW = {"prediction_prompt_template": "Of {answer}, {what} comes?"}


def separately(*packs: CompiledPack, **settings: Any) -> tuple[ModelAsked, ModelAsked]:
    """What is asked of an event, and of the answer to it."""
    scenario = Scenario(*packs, model=MODEL, prediction="separate", **settings)
    asked = scenario.sense("health low")
    later = scenario.answer_model(asked, "Rest.")
    return one(asked, ModelAsked), one(later, ModelAsked)


def test_a_strategy_may_have_prompts_of_its_own() -> None:
    """For its answers and its predictions; the rest of the system prompt stays."""
    garden = pack(context="A garden.")
    strategy = {"name": "always_llm", "parameters": {**PARROT, **HOW}}
    asked, later = separately(garden, strategy=strategy)

    for each in (asked, later):
        assert each.system.startswith("You are a parrot.\n\nA garden.")
    assert later.prompt.endswith('Of <data>"Rest."</data>, {what} comes?')


def test_a_pack_may_have_prompts_for_events_of_its_domain() -> None:
    """Others are told what the settings say; a strategy's own go before the pack's."""
    parrot = {"system_prompt": "You are a parrot.", "prediction_prompt": "{answer}?"}
    garden = pack(executive=parrot)
    asked, later = separately(garden)
    owned, _ = separately(
        garden,
        strategy={"name": "always_llm", "parameters": {"system_prompt": "A cat."}},
    )
    scenario = Scenario(garden, model=MODEL)
    elsewhere = one(
        scenario.sense("health low", source="door", type_="bell"), ModelAsked
    )

    assert asked.system.startswith("You are a parrot.")
    assert later.system.startswith("You are a parrot.")
    assert later.prompt.endswith('\n\n<data>"Rest."</data>?')
    assert elsewhere.system.startswith("You are the companion of one person.")
    assert owned.system.startswith("A cat.")


def test_every_ask_names_the_templates_it_was_made_of() -> None:
    """By their digest, the same for each event; it changes with any prompt."""
    usual = separately()
    again = separately()
    other = separately(base_prompt="Be brief.")

    assert [each.template_digest for each in usual] == [
        each.template_digest for each in again
    ]
    assert all(each.template_digest for each in usual)
    for one_, two in zip(usual, other, strict=True):
        assert one_.template_digest != two.template_digest


def test_prompts_of_packs_are_part_of_the_arm() -> None:
    """Of every event's: it covers all ways to ask, never which one it was."""
    arms = []
    for told in ("", "You are a parrot."):
        scenario = Scenario(pack(executive={"system_prompt": told}), model=MODEL)
        here = one(scenario.sense("health low"), Decided)
        there = one(scenario.sense("a bell", source="door", type_="bell"), Decided)
        assert here.arm == there.arm
        arms.append(here.arm)

    assert arms[0] != arms[1]
