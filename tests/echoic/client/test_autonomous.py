"""The source design's functions under their names: each does what the design says of it."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from immutables import Map

from echoic.client.autonomous import (
    ActionContext,
    AIDecisionConnector,
    MemoryStore,
    NoChoiceError,
    SkillLibrary,
)
from handlers.effects.completions import Completion, ModelError
from schemas.messages.asks import ModelAsked
from schemas.packs.autonomous import Autonomous
from schemas.state.autonomy import Act, Routine
from schemas.values.model_settings import ModelSettings
from tests import factories
from tests.handlers.mind.characters.autonomous.cafe import ACTIONS

HOW = Autonomous.model_validate({"actions": ACTIONS, "tier": 2})
MODEL = ModelSettings(name="gpt-4o-mini", deadline_s=5.0)
CHOICE = {
    "action": "SitAtChair",
    "target": "bench_01",
    "thought": "tired from walking",
    "confidence": 0.8,
    "reasoning": "haven't sat in 5 min",
}
PATTERN = "idle + near_bench + walked_recently"


class Scripted:
    """A model that answers as it is told to, at an address."""

    def __init__(self, endpoint: str | None, texts: list[str]) -> None:
        self.endpoint, self.texts = endpoint, texts
        self.asked: list[ModelAsked] = []
        self.is_open = True

    async def prepare(self) -> None:
        """Nothing is to be prepared."""

    async def close(self) -> None:
        """Note that it was closed."""
        self.is_open = False

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Say the next text; none is left: it declines."""
        self.asked.append(asked)
        if not self.texts:
            raise ModelError("declined", "no more")
        text = self.texts.pop(0)
        return Completion(text=text, model=asked.model, latency_ms=1.0)


def episode(number: int, action: str = "MoveToLocation", **more: Any) -> Act:
    """An action that ended, a minute after the one before it."""
    fields: dict[str, Any] = {
        "decision_id": f"d{number}",
        "at": factories.NOON + timedelta(minutes=number),
        "action": action,
        "by": "model",
        "situation": "idle",
        "outcome": "succeeded",
        **more,
    }
    return Act(**fields)


def context(*recent: Act) -> ActionContext:
    """Idle near a bench."""
    return ActionContext(
        fsm_state="Idle",
        position=(1.24, 0.0, -2.5),
        nearby_objects=({"name": "bench_01", "tag": "bench"},),
        recent_actions=recent,
    )


def connector(*texts: str, made: list[Scripted] | None = None) -> AIDecisionConnector:
    """A connector whose models are scripted; `made` collects them."""

    def client(endpoint: str | None) -> Scripted:
        model = Scripted(endpoint, list(texts))
        if made is not None:
            made.append(model)
        return model

    return AIDecisionConnector(HOW, MODEL, client=client)


async def test_query_returns_the_models_decision() -> None:
    """Action, target, thought, confidence and reasoning."""
    found = await connector(json.dumps(CHOICE)).query(context())
    assert found.action is not None
    assert (found.action.type, found.action.target) == ("SitAtChair", "bench_01")
    assert (found.thought, found.confidence) == ("tired from walking", 0.8)
    assert (found.reasoning, found.fault) == ("haven't sat in 5 min", None)


async def test_query_tells_what_the_context_holds() -> None:
    """And the memories that it is given."""
    made: list[Scripted] = []
    asks = connector(json.dumps(CHOICE), made=made)
    recent, old = episode(1), episode(0, "Wave", thought="Hello!")
    await asks.query(context(recent), memories=(old,))
    (asked,) = made[0].asked
    assert '- FSM state: <data>"Idle"</data>' in asked.prompt
    assert "- Position: (1.2, 0.0, -2.5)" in asked.prompt
    assert "Recent actions (last 5): MoveToLocation: succeeded" in asked.prompt
    assert 'Wave: succeeded, thinking <data>"Hello!"</data>' in asked.prompt


async def test_query_asks_once_more_and_says_why_there_is_no_choice() -> None:
    """As the fallback rules have it; what is unsure or unknown comes back with the reason."""
    made: list[Scripted] = []
    asks = connector("Well...", json.dumps(CHOICE), made=made)
    assert (await asks.query(context())).action is not None
    assert "could not be read" in made[0].asked[1].prompt
    with pytest.raises(NoChoiceError, match="twice"):
        await connector("Well...", "Hm.").query(context())
    with pytest.raises(NoChoiceError, match="declined"):
        await connector().query(context())
    unsure = json.dumps({**CHOICE, "confidence": 0.29})
    found = await connector(unsure).query(context())
    assert (found.action, found.fault) == (None, "its confidence of 0.29 is under 0.3")


async def test_set_endpoint_and_set_model_swap_where_and_whom_it_asks() -> None:
    """Cloud or local, by the address alone."""
    made: list[Scripted] = []
    asks = connector(json.dumps(CHOICE), made=made)
    asks.set_endpoint("http://localhost:11434")
    asks.set_model("ollama/qwen2.5:3b")
    await asks.query(context())
    assert [each.endpoint for each in made] == [None, "http://localhost:11434"]
    assert [each.model for each in made[1].asked] == ["ollama/qwen2.5:3b"]
    assert made[0].asked == []
    await asks.close()
    assert not made[1].is_open


def test_add_episode_finds_importance_and_keeps_two_hundred() -> None:
    """.5 if unusual, .3 else, .3 more if it failed."""
    memory = MemoryStore(HOW)
    memory.add_episode(episode(0))
    memory.add_episode(episode(1))
    memory.add_episode(episode(2, "Lean", outcome="failed", error="Too far."))
    assert [each.importance for each in memory.known.acts] == [0.5, 0.3, 0.8]
    assert memory.known.acts[-1].error == "Too far."
    for number in range(300):
        memory.add_episode(episode(number))
    assert len(memory.known.acts) == 200


def test_retrieve_top_k_weighs_recency_importance_and_relevance() -> None:
    """Best first, as many as are asked for."""
    memory = MemoryStore(HOW)
    for number in range(10):
        memory.add_episode(episode(number, ("Wave", "Lean")[number % 2]))
    memory.add_episode(episode(10, "TurnTo", situation="idle + near_bench"))
    now = factories.NOON + timedelta(minutes=11)
    best = memory.retrieve_top_k(context(), 3, now)
    assert [each.decision_id for each in best] == ["d10", "d9", "d8"]
    assert len(memory.retrieve_top_k(context(), now=now)) == 5


def test_trigger_reflection_abstracts_and_is_remembered() -> None:
    """With importance 1; a second one has nothing to look at."""
    memory = MemoryStore(HOW)
    for number in range(4):
        memory.add_episode(episode(number, "SitAtChair"))
    found = memory.trigger_reflection(context(), factories.NOON)
    assert found.startswith("I tend to do SitAtChair: 4 of 4 times.")
    (insight,) = memory.known.insights
    assert (insight.thought, insight.importance) == (found, 1.0)
    assert insight in memory.retrieve_top_k(context(), 5, factories.NOON)
    assert memory.trigger_reflection(context()) == ""


def test_match_finds_the_source_designs_situation() -> None:
    """Idle near a bench, having walked: sit down; trusted from the third success on."""
    skills = SkillLibrary(HOW)
    here = context(episode(1))
    assert here.situation(HOW) == PATTERN
    skills.store(PATTERN, "SitAtChair", "bench_01")
    assert skills.match(here) is None
    skills.update_success_rate(PATTERN, succeeded=True)
    skills.update_success_rate(PATTERN, succeeded=True)
    found = skills.match(here)
    assert found is not None
    assert (found.action, found.target, found.uses) == ("SitAtChair", "bench_01", 3)
    assert skills.match(context()) is None


@pytest.mark.parametrize(
    ("successes", "uses", "is_matched"),
    [(7, 10, False), (8, 10, True), (2, 2, False), (3, 3, True), (2, 3, False)],
)
def test_match_takes_what_succeeds_in_over_seventy_percent(
    successes: int, uses: int, *, is_matched: bool
) -> None:
    """Exactly .7 is too little, and so are two uses."""
    routine = Routine(action="SitAtChair", uses=uses, successes=successes)
    skills = SkillLibrary(HOW, Map({PATTERN: routine}))
    assert (skills.match(context(episode(1))) is not None) == is_matched


def test_prune_failed_skills_removes_what_is_under_thirty_percent_of_five() -> None:
    """Exactly .3 stays, and so does what was done four times."""
    rates = {"a": (1, 5), "b": (3, 10), "c": (0, 4), "d": (2, 7), "e": (5, 5)}
    routines = {
        each: Routine(action="Lean", successes=good, uses=uses)
        for each, (good, uses) in rates.items()
    }
    skills = SkillLibrary(HOW, Map(routines))
    assert skills.prune_failed_skills() == ("a", "d")
    assert sorted(skills.routines) == ["b", "c", "e"]
    skills.update_success_rate("nowhere", succeeded=True)
    assert sorted(skills.routines) == ["b", "c", "e"]
