"""What is told of a character's decisions: which layer acted, and why others did not."""

import re
from collections.abc import Iterable
from typing import Any

from echoic.client.state import character_fields
from echoic.explain.explain import explain
from echoic.terminal import characters, decisions
from echoic.terminal.screen import Terminal, rendered
from handlers.mind.turn import Turn
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.asks import ModelAsked
from schemas.messages.characters import Aim, AimsSet, PlannedBuild, PlanSet, PlanTask
from schemas.messages.conversations import ConversationMoved
from schemas.messages.notes import ControlInferred
from tests.handlers.mind.characters.autonomous import cafe
from tests.handlers.mind.characters.clearing import Clearing
from tests.handlers.mind.characters.test_reflexes import report, village
from tests.handlers.mind.characters.worksite import pack as worker
from tests.scenario import Scenario, said


def last(turns: Iterable[Turn]) -> DecisionRecord:
    """The last decision of some turns, with what came of it."""
    records = DecisionRecords(keeps_final=True)
    for turn in turns:
        records.take(turn.input, turn.outputs)
    return records.all()[-1]


def verdict(turns: Iterable[Turn]) -> str:
    """The sentence on the last decision."""
    return explain(last(turns), {}).verdict


def shown(turns: Iterable[Turn]) -> str:
    """Its line in `echoic watch`."""
    return rendered([decisions.line(last(turns), {}, Terminal(140))], Terminal(140))


def worksite(control: Any, **fields: Any) -> Scenario:
    """A villager who was told what to plan, and then reported its body."""
    scenario = Scenario(worker())
    scenario.control(control)
    told = {"needs": {"hunger": 1.0, "energy": 80}, **fields}
    report(scenario, told)
    return scenario


def test_a_reflex_says_which() -> None:
    """As before; the line of a watch names the layer and the action."""
    scenario = village()
    report(scenario, {"needs": {"hunger": 0.5, "energy": 80}})

    assert verdict(scenario.turns) == "Acted by a reflex, hungry, without a model."
    assert "reflex seek_food" in shown(scenario.turns)


def test_a_step_of_the_queue_says_why_it_comes_first() -> None:
    """What is most lacking, for which plan, and why no reflex acted."""
    scenario = worksite(PlanSet(builds=(PlannedBuild(building="tent"),)))
    told = verdict(scenario.turns)

    assert told.startswith("Worked off its plan (tent), gather, without a model: ")
    assert "10 cloth missing: tent, normal" in told
    assert "It fetches what is most lacking first" in told
    assert "Before it the reflex did not: no reflex holds." in told


def test_an_entry_of_the_queue_says_which() -> None:
    """Nothing is missing of what costs nothing."""
    scenario = worksite(PlanSet(tasks=(PlanTask(type="explore"),)))
    told = verdict(scenario.turns)

    assert told.startswith("Worked off its plan (task 1 of 1), explore, ")
    assert "most" not in told


def test_a_place_says_what_became_of_its_conversations() -> None:
    """And no reflex named None."""
    clearing = Clearing({"ada": 0, "bob": 5})
    turn = clearing.say("ada", "Shall we build a bridge?")
    told = verdict(clearing.scenario.turns)
    moved = said(turn, ConversationMoved)[0]

    assert told == "The place saw to its conversations: ada speaks for 3.5 s."
    assert characters.news(moved) == "conversation: ada speaks for 3.5 s"
    assert "place saw to its conversations" in shown(clearing.scenario.turns)


def test_a_random_choice_says_its_probability() -> None:
    """And a model's choice how sure it was, and why."""
    drawn = cafe.golem()
    cafe.body(drawn)
    cafe.due(drawn)
    told = verdict(drawn.turns)
    assert re.fullmatch(
        r"Acted at random, without a model: idle for [\d.]+ s \(probability 0\.\d\d\)\.",
        told,
    )

    thinker = cafe.clever()
    cafe.body(thinker)
    asked = cafe.due(thinker)
    assert said(asked, ModelAsked)
    assert "asked by the autonomous (idle for" in verdict(thinker.turns)
    cafe.answer(thinker, asked, "Wave", thought="How nice.", reasoning="Somebody came.")
    told = verdict(thinker.turns)
    assert told.startswith("Acted by the model ")
    assert told.endswith("thinking: How nice. Its reason: Somebody came.")


def test_a_state_tells_body_plan_and_aims() -> None:
    """On the page and as fields; nothing of an agent that is no character."""
    scenario = worksite(
        PlanSet(tasks=(PlanTask(type="gather", target="wood", amount=5),))
    )
    scenario.control(AimsSet(aims=(Aim(text="a bridge"),), priorities={"build": 0.9}))
    known = characters.known(scenario.mind.character, scenario.at)
    fields = character_fields(scenario.mind)

    assert known["need hunger"].endswith("1.00")
    assert known["doing"].startswith("gather, by its queue")
    assert (known["plan"], known["aims"]) == ("gather 5 wood", "a bridge")
    assert known["priorities"] == "build 0.9"
    assert fields is not None
    assert fields["aims"] == [{"kind": "personal", "text": "a bridge"}]
    assert character_fields(Scenario().mind) is None
    assert characters.known(Scenario().mind.character, None) == {}


def test_a_plan_is_told_in_words() -> None:
    """What a layer planned or is after; of other controls nothing."""
    plan = PlanSet(tasks=(PlanTask(type="gather", target="wood", amount=5),))
    aims = AimsSet(aims=(Aim(text="a bridge"),), priorities={"build": 0.9})

    def told(control: str, fields: Any) -> str | None:
        return characters.news(
            ControlInferred(
                control=control, fields=fields, by="executor", source_id="a"
            )
        )

    assert told("plan_set", plan.as_fields()) == (
        "by its executor: plans gather 5 wood"
    )
    assert told("aims_set", aims.as_fields()) == (
        "by its executor: is after a bridge; values build 0.9"
    )
    assert told("plan_set", {"tasks": 7}) == "by its executor: something else"
    assert told("bias_set", {}) is None
