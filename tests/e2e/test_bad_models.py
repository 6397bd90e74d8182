"""A model that answers garbage, slowly, twice, or never: nothing is learnt of it.

The decision ends with its reason, and what heuristics answer does not wait for it.
"""

import asyncio
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Dropped
from schemas.messages.learning import CandidateRefused, HeuristicFormed
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered
from streams.log import append_input
from tests.e2e.companion import Companion, companion, of_pack
from tests.e2e.conftest import reached_at, running_instance
from tests.e2e.model_double import GOOD, ModelDouble, Reply, reply
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.services,
    pytest.mark.model,
]

RULE = {
    "condition": "a wolf howls behind the hill while the player has no fire",
    "type": "suggest",
    "message": "Make a fire before the wolf comes any closer to you tonight",
    "when": None,
    "time": None,
}
LOW = "Player health is low: 2 of 9"
THREAT = {"threat": 0.9}
SLOTS = 3
"""So many answers are waited for at once."""


def happens_to(ada: Companion) -> str:
    """An event that nothing is known of, and no other test's model hears about."""
    return f"A wolf howls behind the hill, and {ada.agent} has no fire"


def extracts(double: ModelDouble, event: str, says: Reply) -> None:
    """Let the model make this of the event, once its answer was liked."""
    double.on(f'It happened, from game (creature): <data>"{event}', says)


def formations(asks: list[ModelAsked]) -> list[ModelAsked]:
    """The asks for a rule among all asks."""
    return [each for each in asks if each.purpose == "formation"]


_LONG = " ".join(f"word{number}" for number in range(51))


@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        (Reply(""), "llm_malformed"),
        (Reply("{}"), "llm_malformed"),
        (Reply('{"response": 7}'), "llm_malformed"),
        (Reply('{"response": ""}'), "llm_declined"),
        (Reply("<think>They must not know."), "llm_malformed"),
        (Reply("", status=400), "llm_no_response"),
    ],
)
async def test_an_answer_that_says_nothing_ends_in_its_reason(
    ada: Companion, double: ModelDouble, garbage: Reply, reason: str
) -> None:
    """The decision falls back, and nobody's liking makes a rule of nothing."""
    event = happens_to(ada)
    double.on(event, garbage)

    decision = await ada.senses(event, type_="creature")
    await ada.votes(decision, "positive")

    assert (decision.path, decision.silence) == ("fallback", reason)
    assert decision.said is None
    assert formations(await ada.outputs(ModelAsked)) == []


@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        ("No rule comes to mind.", "unreadable"),
        ('{"condition": "a wolf how', "unreadable"),
        ("[1, 2, 3]", "unreadable"),
        (json.dumps({**RULE, "type": "sing"}), "type"),
        (json.dumps({**RULE, "condition": "a wolf"}), "condition_length"),
        (json.dumps({**RULE, "message": _LONG}), "message_length"),
        ("", "unreadable"),
        ("<think>Hm.", "model_failed"),
    ],
)
async def test_garbage_is_no_rule(
    ada: Companion, double: ModelDouble, garbage: str, reason: str
) -> None:
    """It is refused with the reason, and no heuristic is formed."""
    event = happens_to(ada)
    extracts(double, event, Reply(garbage))

    decision = await ada.senses(event, type_="creature")
    await ada.votes(decision, "positive")

    (refused,) = await ada.comes(CandidateRefused)
    assert (refused.reason, refused.decision_id) == (reason, decision.id)
    assert await ada.outputs(HeuristicFormed) == []


async def test_a_rule_that_comes_twice_is_formed_once(
    ada: Companion, double: ModelDouble
) -> None:
    """Whoever answers again is told so, and changes nothing."""
    event = happens_to(ada)
    extracts(double, event, Reply(json.dumps(RULE)))
    decision = await ada.senses(event, type_="creature")
    await ada.votes(decision, "positive")
    await ada.comes(HeuristicFormed)

    (answered,) = [
        each for each in await ada.inputs(ModelAnswered) if "condition" in each.text
    ]
    other = {**RULE, "message": "Sing to the wolf until it is no longer angry at you"}
    await says_again(ada, answered, json.dumps(other))

    assert (await ada.outputs(Handled))[-1].reason in ("second", "late", "unknown")
    (formed,) = await ada.outputs(HeuristicFormed)
    assert formed.text == RULE["message"]


async def test_a_model_that_hangs_holds_up_no_heuristic(
    double: ModelDouble, tmp_path: Path
) -> None:
    """With every slot of the model held, what is known is said; the rest times out."""
    impatient = reached_at(double) | {"ECHOIC_MODEL_DEADLINE_S": "5"}
    async with (
        running_instance(tmp_path, impatient) as live,
        companion(live, "emil") as emil,
    ):
        await hangs_and_answers(emil, double)


async def hangs_and_answers(ada: Companion, double: ModelDouble) -> None:
    """As many events as it has slots, never answered, and five that need no answer."""
    never = asyncio.Event()
    event = happens_to(ada)
    double.on(event, Reply(GOOD.text, release=never))
    try:
        for number in range(SLOTS):
            text = f"{event}, for the {number}. time"
            await ada.publish(text, type_="creature", salience=THREAT)
        await double.asked_about(event, SLOTS)

        known = [
            await ada.senses(LOW, fields={"health": 2}, salience=THREAT)
            for _ in range(5)
        ]

        assert {each.path for each in known} == {"heuristic"}
        assert await ada.outputs(Dropped) == []
        dropped = await ada.comes(Dropped, SLOTS)
        assert {each.reason for each in dropped} == {"llm_timeout"}
        assert await ada.outputs(HeuristicFormed) == []
    finally:
        never.set()


async def test_a_rule_that_never_comes_holds_up_no_answer(
    ada: Companion, double: ModelDouble
) -> None:
    """Rules are waited for where answers are not: the model goes on answering."""
    never = asyncio.Event()
    event = happens_to(ada)
    extracts(double, event, Reply(json.dumps(RULE), release=never))
    try:
        for _ in range(4):
            decision = await ada.senses(event, type_="creature", salience=THREAT)
            await ada.votes(decision, "positive")
        await double.asked_about(f'(creature): <data>"{event}')

        other = f"A door slams in the tower above {ada.agent}"
        double.on(other, reply("Go and look."))
        decision = await ada.senses(other, type_="creature")
        known = await ada.senses(LOW, fields={"health": 2}, salience=THREAT)

        assert (decision.path, decision.said) == ("llm", "Go and look.")
        assert known.decided.matched_heuristic_id == of_pack("heal")
        assert await ada.outputs(HeuristicFormed) == []
        assert len(formations(await ada.outputs(ModelAsked))) == 4
    finally:
        never.set()
    # What comes late is still worth having: nobody had to wait for it.
    assert await ada.comes(HeuristicFormed)


async def says_again(ada: Companion, answered: ModelAnswered, text: str) -> None:
    """Let the model answer the same ask once more, in other words."""
    log = ada.live.log
    before = len(await ada.inputs(ModelAnswered))
    await append_input(
        log,
        log.epoch,
        replace(answered, text=text),
        agent=ada.agent,
        partition=ada.partition,
        id_=f"{answered.ask_id}-again",
        source="/model",
    )
    async with asyncio.timeout(PATIENCE_S):
        while len(await ada.inputs(ModelAnswered)) == before:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
