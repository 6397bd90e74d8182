"""Words that go out as they come, from a real server on loopback: whole, broken, hanging."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from msgspec import structs
from nats.aio.msg import Msg

from handlers.effects.model_call import ask_model
from handlers.effects.models import LiteLLM
from handlers.mind.reply import reading
from schemas.messages.asks import StopAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from tests.handlers.effects.test_effects import (
    ADA,
    ask,
    model_asked,
    performing,
    results,
    said,
)
from tests.handlers.effects.test_models import ASKED
from tests.minds import until
from tests.model_server import ModelServer, model_server
from tests.patience import PATIENCE_S
from tests.servers import Broker

pytestmark = pytest.mark.usefixtures("litellm_closed")

STREAMED = structs.replace(ASKED, stream=True)
WORDS = "Mind the step, it is wet and somebody left a bucket there."
ANSWER = json.dumps({"response": WORDS, "predicted_success": 0.7})


@dataclass
class Ear:
    """Keeps what it hears."""

    heard: list[str] = field(default_factory=list)

    async def hear(self, written: str) -> None:
        """Keep it."""
        self.heard.append(written)

    @property
    def said(self) -> list[str]:
        """What of it a person may hear."""
        return [reading.words_so_far(each) for each in self.heard]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model on a loopback port that answers in parts."""
    with model_server() as running:
        running.text = ANSWER
        yield running


async def streamed(
    server: ModelServer, ear: Ear, deadline_s: float = 60.0
) -> ModelAnswered | ModelFailed:
    """Ask the server through litellm, listening."""
    model = LiteLLM(api_base=server.base, api_key="none")
    await model.prepare()
    asked = structs.replace(STREAMED, deadline_s=deadline_s)
    return await ask_model(
        model, "ask", asked, within_s=PATIENCE_S, headers={}, hear=ear.hear
    )


@pytest.mark.model
async def test_words_are_heard_before_the_answer_is_whole(server: ModelServer) -> None:
    """Each time more of them; the answer in the end is the same as without, with its cost."""
    ear = Ear()
    answered = await streamed(server, ear)

    assert isinstance(answered, ModelAnswered)
    assert (answered.text, answered.model) == (ANSWER, "double")
    assert (answered.input_tokens, answered.output_tokens) == (11, 4)
    # Its first words came before it was whole, and not at once.
    assert answered.first_part_ms is not None
    assert answered.latency_ms is not None
    assert 0 < answered.first_part_ms < answered.latency_ms
    assert (answered.response_id, answered.server) == ("1", server.base[7:-3])
    assert len(ear.heard) >= 4
    assert ear.heard[-1] == ANSWER
    assert all(WORDS.startswith(each) for each in ear.said)
    assert 0 < len(ear.said[1]) < len(ear.said[2]) < len(WORDS)
    [request] = server.requests
    assert request["stream_options"] == {"include_usage": True}


@pytest.mark.model
@pytest.mark.parametrize("breaks", ["closes", "garbles"])
@pytest.mark.parametrize("text", [ANSWER, WORDS], ids=["json", "plain"])
async def test_a_server_that_dies_in_the_middle_is_asked_again(
    server: ModelServer, breaks: Any, text: str
) -> None:
    """What it said is no answer, not even if it reads as one; the next one begins anew."""
    server.text, server.breaks = text, [breaks]
    ear = Ear()
    answered = await streamed(server, ear)

    assert isinstance(answered, ModelAnswered)
    assert answered.text == text
    assert len(server.requests) == 2
    again = [
        after
        for before, after in zip(ear.heard, ear.heard[1:], strict=False)
        if len(after) < len(before)
    ]
    assert len(again) == 1


@pytest.mark.model
async def test_a_server_that_dies_each_time_has_not_answered(
    server: ModelServer,
) -> None:
    """Its words were heard, and are worth nothing."""
    server.breaks = ["closes", "closes", "closes"]
    ear = Ear()
    failed = await streamed(server, ear)

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "no_response"
    assert len(server.requests) == 3
    assert any(ear.said)


@pytest.mark.model
async def test_a_server_that_hangs_in_the_middle_times_out(server: ModelServer) -> None:
    """The one deadline holds, whatever came before it."""
    server.breaks = ["hangs"]
    ear = Ear()
    failed = await streamed(server, ear, deadline_s=1.0)

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "timeout"
    assert any(ear.said)


@pytest.mark.model
@pytest.mark.parametrize("text", [ANSWER[:-1], ANSWER[:30], "Sure: " + ANSWER[:40]])
async def test_json_without_an_end_comes_as_it_is(
    server: ModelServer, text: str
) -> None:
    """The mind says that it is none; it is not asked for again."""
    server.text = text
    answered = await streamed(server, Ear())

    assert isinstance(answered, ModelAnswered)
    assert answered.text == text
    assert len(server.requests) == 1


@pytest.mark.model
@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
async def test_all_of_a_reply_is_kept(server: ModelServer, streams: bool) -> None:
    """What was thought, why it ended, what was called and refused, as it was received."""
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "light", "arguments": "{}"},
    }
    server.finish_reason, server.streams = "length", streams
    server.message = {"reasoning_content": "Hm.", "tool_calls": [{"index": 0, **call}]}
    answered = await streamed(server, Ear())

    assert isinstance(answered, ModelAnswered)
    assert (answered.text, answered.reasoning) == (ANSWER, "Hm.")
    assert answered.finish_reason == "length"
    assert "light" in (answered.tool_calls or "")


@pytest.mark.model
async def test_a_server_that_knows_no_parts_answers_whole(server: ModelServer) -> None:
    """It is asked once more, without them."""
    server.streams = False
    ear = Ear()
    answered = await streamed(server, ear)

    assert isinstance(answered, ModelAnswered)
    assert answered.text == ANSWER
    assert ear.heard == []
    assert [each.get("stream") for each in server.requests] == [True, None]


@asynccontextmanager
async def listening(broker: Broker) -> AsyncIterator[list[dict[str, Any]]]:
    """What is said on any subject of Ada's, for the length of the block."""
    heard: list[dict[str, Any]] = []

    async def keep(message: Msg) -> None:
        heard.append({"subject": message.subject, **orjson.loads(message.data)})

    listener = await broker.client.subscribe("out.ada.>", cb=keep)
    await broker.client.flush()
    yield heard
    await listener.unsubscribe()


@pytest.mark.model
@pytest.mark.services
async def test_parts_go_out_and_are_taken_back(
    broker: Broker, server: ModelServer
) -> None:
    """Under the decision's id, on a subject of their own, and nowhere in the log."""
    server.text = ANSWER
    model = LiteLLM(api_base=server.base, api_key="none")
    asked = structs.replace(model_asked("door"), stream=True, model="openai/double")
    async with listening(broker) as heard, performing(broker, model):
        await model.prepare()
        [ask_id] = await ask(broker, asked)
        [answer] = await results(broker, 1)
        assert said(answer) == ("model_answered", ask_id)
        await until(lambda: bool(heard), "a part is heard")
        parts = list(heard)
        await ask(broker, StopAsked(ask_id=ask_id, decision_id="d", channel="say"))
        await until(lambda: len(heard) > len(parts), "it is taken back")

    assert {each["subject"] for each in heard} == {f"out.{ADA}.say.part"}
    assert {each["decision_id"] for each in heard} == {"d"}
    assert all(not each["final"] and WORDS.startswith(each["text"]) for each in parts)
    assert (heard[-1]["retracted"], heard[-1]["final"]) == (True, True)


@pytest.mark.model
@pytest.mark.services
async def test_what_is_taken_back_is_said_no_further(
    broker: Broker, server: ModelServer
) -> None:
    """Nobody hears more of an answer that the mind has given up."""
    server.breaks = ["hangs"]
    model = LiteLLM(api_base=server.base, api_key="none")
    asked = structs.replace(model_asked("door"), stream=True, model="openai/double")
    async with listening(broker) as heard, performing(broker, model):
        [ask_id] = await ask(broker, asked)
        await until(lambda: bool(heard), "a part is heard")
        await ask(broker, StopAsked(ask_id=ask_id, decision_id="d", channel="say"))
        await until(lambda: "retracted" in heard[-1], "it is taken back")
        # The call ends, is repeated, and answers in parts that nobody hears.
        server.closing.set()
        await results(broker, 1)

    assert "retracted" in heard[-1]
    assert "retracted" not in heard[0]
