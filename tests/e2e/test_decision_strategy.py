"""The eight cases that a decision strategy must pass, each through a running instance."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from msgspec.structs import replace

from echoic.run.instance import Instance
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.messages.arms import SILENT
from schemas.messages.controls import StrategySelected
from schemas.messages.decisions import Completed, Decided, HeuristicFired
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate
from tests.e2e.companion import Companion, companion, of_pack
from tests.e2e.conftest import running_instance
from tests.e2e.model_double import ModelDouble, Reply, reply

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

STORM = "A storm is coming from the west"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def without_model(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Instance]:
    """An instance whose System 2 is off."""
    async with running_instance(tmp_path_factory.mktemp("no-model"), {}) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def bob(without_model: Instance) -> AsyncIterator[Companion]:
    """A companion that has no model."""
    async with companion(without_model, "bob") as fresh:
        yield fresh


@pytest.mark.parametrize("confidence", [0.3, 0.699999, 0.7, 0.9])
async def test_decide_with_various_contexts(confidence: float) -> None:
    """`decide` is a pure function of its context: a threshold, then a model, then silence."""
    best = HeuristicCandidate(
        heuristic_id="h",
        condition_text="c",
        suggested_action="a",
        confidence=confidence,
    )
    strategy = HeuristicFirst()
    context = DecisionContext(
        event_id="e",
        event_text="t",
        event_source="s",
        candidates=(best,),
        llm_arm="llm:m",
    )

    taken = [
        strategy.decide(each).greedy
        for each in (
            context,
            replace(context, immediate=False),
            replace(context, llm_arm=None),
            replace(context, candidates=()),
        )
    ]

    trusted = confidence >= 0.7
    assert taken[:3] == [best.arm] * 3 if trusted else ["llm:m", SILENT, SILENT]
    assert taken[3] == "llm:m"


async def test_the_model_is_a_double_that_answers_the_same(
    ada: Companion, double: ModelDouble
) -> None:
    """With a scripted model a decision is deterministic: the same words, the same numbers."""
    event = "Wolves howl somewhere behind the hills"
    double.on(event, reply("Stay near the fire.", success=0.55, confidence=0.45))

    first = await ada.senses(event, type_="creature")
    second = await ada.senses(event, type_="creature", salience={"threat": 0.9})

    for decision in (first, second):
        ending = decision.ending
        assert isinstance(ending, Completed)
        assert (ending.path, ending.text) == ("llm", "Stay near the fire.")
        assert (ending.predicted_success, ending.prediction_confidence) == (0.55, 0.45)


async def test_heuristic_path_when_confidence_reaches_the_threshold(
    ada: Companion,
) -> None:
    """At the threshold or over it the best candidate answers: 0.7 passes 0.7."""
    await ada.taught(
        "lamp", "The lamp in the hut went out", "Light it.", confidence=0.7
    )

    decision = await ada.senses("The lamp in the hut went out", type_="weather")

    gate = next(each for each in decision.decided.gates if each.name == "confidence")
    assert (decision.path, decision.said) == ("heuristic", "Light it.")
    assert (gate.value, gate.threshold, gate.margin) == (0.7, 0.7, 0.0)
    assert gate.passed


async def test_llm_path_when_confidence_is_under_the_threshold(
    ada: Companion, double: ModelDouble
) -> None:
    """The candidates are in the prompt: condition and action alone, without scores."""
    event = f"{STORM}, and it grows dark"
    decision = await ada.senses(event, type_="weather")

    (asked,) = await double.asked_about(event)
    assert decision.path == "llm"
    assert decision.decided.matched_heuristic_id == of_pack("shelter")
    for text in (
        "A storm is coming from the west",
        "Find shelter before the storm.",
        "A storm is coming from the north",
        "Put out the campfire.",
        "you may ignore",
    ):
        assert text in asked.prompt
    # Neither confidences nor similarities, which would anchor the model.
    assert not [each for each in ("0.5", "0.4", "50%", "40%") if each in asked.prompt]
    shown = {each.heuristic_id for each in await ada.outputs(HeuristicFired)}
    assert shown == {of_pack("shelter"), of_pack("campfire")}


async def test_rejected_path_without_a_model(bob: Companion) -> None:
    """Nobody to ask: the decision is silence, and says so."""
    decision = await bob.senses(STORM, type_="weather")

    assert (decision.path, decision.silence) == ("rejected", "llm_unavailable")
    assert decision.said is None


async def test_rejected_path_when_not_immediate(
    ada: Companion, double: ModelDouble
) -> None:
    """An event that may not wait for a model is answered by what was learnt, or not."""
    event = f"{STORM}, they say at the inn"
    decision = await ada.senses(event, type_="weather", immediate=False)

    assert (decision.path, decision.silence) == ("rejected", "not_immediate")
    assert not [each for each in double.asked if event in each.prompt]


@pytest.mark.parametrize(
    ("event", "says", "reason"),
    [
        ("An owl sits on the gate", Reply(""), "llm_malformed"),
        ("A cat sits on the gate", reply(""), "llm_declined"),
        ("A hen sits on the gate", Reply(status=400), "llm_no_response"),
        ("A rat sits on the gate", Reply(status=500), "llm_no_response"),
    ],
)
async def test_fallback_path_when_the_model_returns_nothing(
    ada: Companion, double: ModelDouble, event: str, says: Reply, reason: str
) -> None:
    """Nothing, an empty answer or an error: nothing is said, and the decision ends."""
    double.on(event, says)

    decision = await ada.senses(event, type_="creature")

    assert (decision.path, decision.silence) == ("fallback", reason)
    assert ada.words.empty()


@pytest.mark.parametrize(
    ("event", "says", "expected"),
    [
        ("A red fox looks at you", reply("Shh.", 1.0, 0.99), (0.8, 0.8)),
        ("A grey fox looks at you", reply("Shh.", -3.0, 0.2), (0.0, 0.2)),
        ("A white fox looks at you", Reply("Shh."), (0.5, 0.5)),
        ("A black fox looks at you", Reply("```json\n{oops}\n```"), (0.5, 0.5)),
        (
            "A blue fox looks at you",
            Reply('{"response": "Shh.", "predicted_success": "high"}'),
            (0.5, 0.5),
        ),
    ],
)
async def test_the_confidence_ceiling_is_applied(
    ada: Companion,
    double: ModelDouble,
    event: str,
    says: Reply,
    expected: tuple[float, float],
) -> None:
    """What the model thinks of itself counts up to 0.8; what cannot be read is 0.5."""
    double.on(event, says)

    decision = await ada.senses(event, type_="creature")

    ending = decision.ending
    assert isinstance(ending, Completed)
    assert (ending.predicted_success, ending.prediction_confidence) == expected


async def test_an_empty_list_of_candidates(ada: Companion, double: ModelDouble) -> None:
    """Without candidates the model is asked, its arm and silence alone are weighed."""
    event = "The moon is unusually large tonight"
    decision = await ada.senses(event, type_="weather")

    (asked,) = await double.asked_about(event)
    arms = [each.arm.partition(":")[0] for each in decision.decided.candidates]
    assert (decision.path, arms) == ("llm", ["llm", SILENT])
    assert decision.decided.matched_heuristic_id is None
    assert "similar situations" not in asked.prompt


async def test_the_threshold_of_a_strategy_can_be_set(ada: Companion) -> None:
    """`strategy_selected` sets an agent's own threshold from there on."""
    await ada.tell(
        StrategySelected(strategy="heuristic_first", parameters={"threshold": 0.5})
    )

    decision = await ada.senses(STORM, type_="weather")

    (decided,) = await ada.outputs(Decided)
    assert (decision.path, decision.said) == (
        "heuristic",
        "Find shelter before the storm.",
    )
    assert decided.strategy == "heuristic_first"
