"""A model is asked what characters ask theirs; each way to answer badly is told."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from echoic.errors import NotRunningError
from echoic.model_check import situations
from echoic.model_check.report import Report, report
from echoic.model_check.run import Asked, check, chosen
from handlers.effects.models import LiteLLM
from schemas.messages.results import ModelAnswered
from schemas.values.model_settings import ModelSettings
from tests.model_server import ModelServer, model_server

pytestmark = pytest.mark.usefixtures("litellm_closed")

GOOD = {
    "thinking": "I am hungry.",
    "speaking": "Good morning!",
    "action": None,
    "goal": {"type": "personal", "description": "find berries"},
    "priorities": None,
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model over HTTP."""
    with model_server() as running:
        running.text = json.dumps(GOOD)
        yield running


def settings(**fields: Any) -> ModelSettings:
    """How the model is asked."""
    return ModelSettings(name="openai/double", **fields)


async def checked(
    server: ModelServer, count: int = 3, **fields: Any
) -> tuple[list[Asked], Report]:
    """What a check comes to."""
    model = LiteLLM(server.base, "none")
    asked = await check(model, settings(**fields), count)
    return asked, report("openai/double", asked, situations.calls_an_hour())


def test_the_prompts_are_those_of_villagers() -> None:
    """Twenty moments of six, each with what may be done then; needs are told in words."""
    prompts = situations.prompts()
    assert len(prompts) == 20
    assert len({each.situation for each in prompts}) == 20
    assert len({each.system for each in prompts}) == 6
    assert "- hunger: desperate" in prompts[0].text
    assert "attend_meeting" in {tool for each in prompts for tool in each.tools}
    assert all("Needs:\n" in each.text for each in prompts)
    assert situations.calls_an_hour() == 120.0


def test_executors_and_autonomous_characters_have_prompts_of_their_own() -> None:
    """Those that their layers make, with as many calls an hour as these make."""
    plans, chooses = situations.prompts("executor"), situations.prompts("autonomous")
    assert (len(plans), len(chooses)) == (8, 6)
    assert "Build a cozy home" in plans[0].text
    assert all("Available buildings" in each.text for each in plans)
    assert "build" not in plans[0].tools
    assert "build" in plans[1].tools
    assert all("## Valid Actions" in each.text for each in chooses)
    hourly = [situations.calls_an_hour(each) for each in situations.LAYERS]
    assert hourly == [120.0, 12.0, 48.0]


@pytest.mark.parametrize(
    ("layer", "text", "is_valid", "why"),
    [
        ("executor", {"action": {"type": "plan_build", "building": "tent"}}, 1, None),
        ("executor", {"action": {"type": "stockpile", "target": "wood"}}, 1, None),
        ("executor", {"thinking": "Nothing to do.", "action": None}, 1, None),
        (
            "executor",
            {"action": {"type": "plan_build", "building": "inn"}},
            0,
            "nobody",
        ),
        ("executor", {"action": ["fly", {"type": "explore"}]}, 1, "'fly' was not"),
        ("executor", {"action": {"type": "talk"}}, 0, "'talk' was not"),
        ("autonomous", {"action": "SitAtChair", "target": "bench_01"}, 1, None),
        ("autonomous", {"action": "sit"}, 1, None),
        ("autonomous", {"action": "Teleport"}, 0, "no action is called"),
        ("autonomous", {"action": "PlayClaw"}, 0, "nothing near"),
        ("autonomous", {"action": "Lean", "confidence": 0.1}, 0, "under 0.3"),
        ("autonomous", {"thought": "Hm."}, 0, "names no"),
    ],
)
def test_further_layers_judge_as_the_mind_reads(
    layer: situations.Layer, text: dict[str, Any], is_valid: int, why: str | None
) -> None:
    """What is done counts, and what is not is told with its reason."""
    verdict = situations.prompts(layer)[0].judge(json.dumps(text))
    assert verdict.is_json
    assert int(verdict.is_valid) == is_valid
    assert (why or "") in (verdict.problem or "")
    assert (verdict.problem is None) == (why is None)


def test_more_prompts_than_situations_begin_anew() -> None:
    """And fewer are the first ones."""
    known = situations.prompts()[:2]
    assert list(chosen(known, 3)) == [*known, known[0]]


async def test_a_good_model_is_told_with_its_figures(server: ModelServer) -> None:
    """All are valid; latency, tokens and the cost of an hour are those of its calls."""
    asked, found = await checked(server)
    shares = found.prompts, found.json, found.bare_json, found.valid_actions
    assert shares == (3, 3, 3, 3)
    assert (found.actions, found.failures) == (0, ())
    assert (found.input_tokens, found.output_tokens) == (11.0, 4.0)
    assert found.latency_p50_ms is not None
    assert found.latency_p95_ms == max(each.result.latency_ms or 0 for each in asked)
    # The first call, of a model that may have to be loaded, is not among them.
    assert len(server.requests) == 4
    sent = server.requests[1]["messages"]
    prompt = situations.prompts()[0]
    assert [each["content"] for each in sent] == [prompt.system, prompt.text]
    # A double has no price.
    assert found.usd_an_hour is None


def test_an_hour_costs_as_often_as_the_sociable_ask() -> None:
    """The mean of a call's price, 120 times; without a price nothing is said."""
    prompt = situations.prompts()[0]
    reply = json.dumps(GOOD)
    asked = [
        Asked(
            prompt=prompt,
            result=ModelAnswered(
                ask_id="a", request_hash="r", model="m", text=reply, cost_usd=usd
            ),
            verdict=prompt.judge(reply),
        )
        for usd in (0.0001, 0.0002)
    ]
    assert report("m", asked, 120.0).usd_an_hour == pytest.approx(0.018)
    free = [replace(asked[0], result=structs.replace(asked[0].result, cost_usd=None))]
    assert report("m", free, 120.0).usd_an_hour is None


@pytest.mark.parametrize(
    ("text", "is_json", "is_bare", "is_valid", "why"),
    [
        (f"Sure, here it is: {json.dumps(GOOD)} Enjoy!", 1, 0, 1, None),
        ("```json\n" + json.dumps(GOOD) + "\n```", 1, 0, 1, None),
        ("I would rather not say.", 0, 0, 0, "there is no JSON"),
        ('{"thinking": "I am', 0, 0, 0, "broken"),
        ("{}", 1, 1, 0, "says nothing"),
        ('{"speaking": "Hi", "action": {"type": "fly"}}', 1, 1, 0, "'fly' was not"),
        ('{"action": {"type": 7}}', 1, 1, 0, "'7' was not"),
        ('{"speaking": "Hi", "priorities": [1]}', 1, 1, 1, "priorities"),
        ('{"speaking": "Hola", "action": {"type": "talk", "target": "Boris"}}', 1, 1, 1,
         None),
    ],
)  # fmt: skip
def test_each_reply_is_worth_what_the_mind_makes_of_it(
    text: str, is_json: int, is_bare: int, is_valid: int, why: str | None
) -> None:
    """JSON within prose counts; what was not offered does not, and it is said why."""
    verdict = situations.prompts()[1].judge(text)
    told = verdict.is_json, verdict.is_bare, verdict.is_valid
    assert tuple(map(int, told)) == (is_json, is_bare, is_valid)
    if why is None:
        assert verdict.problem is None
    else:
        assert why in (verdict.problem or "")


async def test_an_answer_that_never_comes_is_a_failure(server: ModelServer) -> None:
    """So is what is refused; the others are asked all the same."""
    model, told = LiteLLM(server.base, "none"), []

    def tell(done: int, whole: int) -> None:
        told.append((done, whole))
        server.is_silent = done == 1
        server.finish_reason = "content_filter" if done == 2 else "stop"

    how = settings(deadline_s=1.0)
    found = report("openai/double", await check(model, how, 4, tell), 120.0)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (found.answered, found.json) == (2, 2)
    reasons = [each.why.split(":")[0] for each in found.failures]
    assert reasons == ["timeout", "declined"]
    names = [each.situation for each in situations.prompts()]
    assert [each.situation for each in found.failures] == names[1:3]


@pytest.mark.parametrize("status", [401, 404])
async def test_a_model_that_cannot_be_reached_is_told(
    server: ModelServer, status: int
) -> None:
    """At once: nothing else is asked."""
    server.failures = [status]
    with pytest.raises(NotRunningError, match="'openai/double' cannot be reached"):
        await checked(server)
    assert len(server.requests) == 1


async def test_a_model_that_hangs_is_not_asked_twenty_times(
    server: ModelServer,
) -> None:
    """It is given up after the first deadline."""
    server.is_silent = True
    with pytest.raises(NotRunningError, match="cannot be reached"):
        await checked(server, deadline_s=0.3)
    assert len(server.requests) == 1
