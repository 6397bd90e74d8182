"""The learning scenario with a real language model, which says what it likes.

What must hold holds whatever it says. What came of it this time, a heuristic or the
reason why there is none, is printed: `make test-model` shows it.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from handlers.effects.models import LiteLLM
from handlers.mind.stages.formation import WORDS
from replay.recording.decisions import DecisionRecord
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import HeuristicFired
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    HeuristicFormed,
    HeuristicReinforced,
)
from schemas.state.evidence import Belief
from tests.e2e.companion import PACK, Companion, companion
from tests.e2e.conftest import running_instance

BASE, NAME = os.environ.get("MODEL_API_BASE"), os.environ.get("MODEL_NAME")
ROUNDS = int(os.environ.get("MODEL_ROUNDS", "6"))
"""How often it happens, each time liked if a model answered."""

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.services,
    pytest.mark.model_real,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(
        not (BASE and NAME), reason="MODEL_API_BASE and MODEL_NAME name no model"
    ),
]

EVENTS = (
    "The hut is filling with smoke and the player is still inside it",
    "Smoke is filling the hut while the player is still inside",
    "Thick smoke fills the wooden hut and the player is still inside it",
)
THRESHOLD, CAP = 0.7, 0.65
ANSWER_S = 120
"""A small model on a busy machine takes its time."""

PATIENCE_S = 3 * ANSWER_S

Lesson = HeuristicFormed | HeuristicReinforced | CandidateRefused


@pytest_asyncio.fixture(loop_scope="module")
async def ada(tmp_path: Path) -> AsyncIterator[Companion]:
    """A companion that asks the real model; in the end its log replays to the byte."""
    await LiteLLM().prepare()
    variables = {
        "ECHOIC_MODEL_NAME": NAME or "",
        "ECHOIC_MODEL_API_BASE": BASE or "",
        "ECHOIC_MODEL_API_KEY": "none",
        "ECHOIC_MODEL_MAX_TOKENS": "160",
        "ECHOIC_MODEL_DEADLINE_S": str(ANSWER_S),
        "ECHOIC_TTL_S": str(ANSWER_S),
    }
    async with (
        running_instance(tmp_path, variables) as live,
        companion(live, "ada") as fresh,
    ):
        yield fresh


async def test_whatever_it_says_the_rules_of_learning_hold(ada: Companion) -> None:
    """Each liked answer comes to one thing, and only what earned it answers by itself."""
    for number in range(ROUNDS):
        decision = await happens(ada, EVENTS[number % len(EVENTS)])
        if decision.path == "llm":
            await comes_to_one_thing(ada, decision)
        else:
            assert decision.path == "heuristic" or decision.silence is not None

    await formed_as_they_must_be(ada)
    await endorsed_by_what_was_not_copied(ada)
    await trusted_only_with_reason(ada)
    await answers_if_it_is_trusted(ada)


async def happens(ada: Companion, text: str) -> DecisionRecord:
    """An event, and what was said of it in the end."""
    id_ = await ada.publish(text, fields={"smoke": 80}, salience={"threat": 0.9})
    found = await ada.decided(id_)
    assert found.is_final
    tell(f"{found.path}: {found.said or found.silence!r}")
    return found


async def comes_to_one_thing(ada: Companion, decision: DecisionRecord) -> None:
    """Liked, it is made a rule, counts for one that is there, or is refused: one of them."""
    await ada.votes(decision, "positive")
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await lessons(ada, decision.id)):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    assert len(found) == 1
    match found[0]:
        case HeuristicFormed(condition=condition, text=text, when=when):
            tell(f"  formed: when {condition!r} ({when}): {text!r}")
        case HeuristicReinforced(heuristic_id=id_, confidence=confidence):
            tell(f"  reinforced: {id_}, now {confidence}")
        case CandidateRefused(reason=reason, detail=detail):
            tell(f"  no heuristic, {reason}: {detail}")


async def lessons(ada: Companion, decision_id: str) -> list[Lesson]:
    """What was made of a decision that is liked."""
    made: list[Lesson] = [
        *await ada.outputs(HeuristicFormed),
        *await ada.outputs(HeuristicReinforced),
        *await ada.outputs(CandidateRefused),
    ]
    return [each for each in made if each.decision_id == decision_id]


async def formed_as_they_must_be(ada: Companion) -> None:
    """Every heuristic passed the gate, and began with all to prove."""
    for each in await ada.outputs(HeuristicFormed):
        assert (each.confidence, each.origin, each.domain) == (0.3, "learned", PACK)
        for text in (each.condition, each.text):
            assert WORDS[0] <= len(text.split()) <= WORDS[1]


async def endorsed_by_what_was_not_copied(ada: Companion) -> None:
    """No model endorsed what it had been shown."""
    shown = {
        (each.decision_id, each.heuristic_id)
        for each in await ada.outputs(HeuristicFired)
        if each.mode == "suggested"
    }
    endorsed = await ada.outputs(Endorsed)
    assert not {(e.decision_id, e.heuristic_id) for e in endorsed} & shown
    tell(f"{len(endorsed)} endorsements")


async def trusted_only_with_reason(ada: Companion) -> None:
    """Whatever passed the cap has a person's vote, and whatever answered was trusted."""
    for belief in await learnt(ada):
        if {each.kind for each in belief.signals} <= {"endorsement"}:
            assert belief.confidence <= CAP
    asked = {each.decision_id for each in await ada.outputs(ModelAsked)}
    for fire in await ada.outputs(HeuristicFired):
        if fire.mode == "shown":
            assert fire.confidence >= THRESHOLD
            assert fire.decision_id not in asked


async def answers_if_it_is_trusted(ada: Companion) -> None:
    """A heuristic that passed the threshold answers its situation without a model."""
    formed = await ada.outputs(HeuristicFormed)
    for each in formed:
        beliefs = await ada.beliefs(each.heuristic_id)
        confidence = beliefs[0].confidence if beliefs else each.confidence
        tell(f"{each.name}: {confidence}")
        if confidence < THRESHOLD:
            continue
        decision = await happens(ada, each.condition)
        assert decision.path == "heuristic"
        asked = {each.decision_id for each in await ada.outputs(ModelAsked)}
        assert decision.id not in asked
    if not formed:
        tell("no heuristic was formed: what the model sent was refused each time")


async def learnt(ada: Companion) -> list[Belief]:
    """What is believed of all that was formed."""
    return [
        belief
        for each in await ada.outputs(HeuristicFormed)
        for belief in await ada.beliefs(each.heuristic_id)
    ]


def tell(line: str) -> None:
    """Let whoever ran this see what the model did."""
    print(line, flush=True)  # noqa: T201
