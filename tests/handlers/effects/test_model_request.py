"""Each model is asked in a way that it takes, against what real servers refuse."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from handlers.effects.model_call import ask_model
from handlers.effects.model_request import ROOM_TOKENS, Habits
from handlers.effects.models import Hear, LiteLLM
from schemas.messages.results import ModelAnswered, ModelFailed
from tests.handlers.effects.test_models import ASKED
from tests.model_server import ModelServer, model_server
from tests.strict_models import CASES, openai_reasoning

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("litellm_closed")]

FOR_JSON = structs.replace(ASKED, system="Reply with one JSON object.", deadline_s=10.0)
OWN_API = ("anthropic", "gemini", "ollama")
"""Providers whose address has no `/v1` at its end."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model on a loopback port."""
    with model_server() as running:
        yield running


async def hear(_: str) -> None:
    """Listen."""


async def reached(server: ModelServer, name: str) -> LiteLLM:
    """The model at the server, by litellm, ready to be asked."""
    has_own = name.startswith(OWN_API)
    base = server.base.removesuffix("/v1") if has_own else server.base
    model = LiteLLM(api_base=base, api_key="none")
    await model.prepare()
    return model


async def ask(
    model: LiteLLM, name: str, heard: Hear | None = None
) -> ModelAnswered | ModelFailed:
    """Ask a model for JSON."""
    asked = structs.replace(FOR_JSON, model=name, stream=heard is not None)
    return await ask_model(model, "a", asked, within_s=10.0, headers={}, hear=heard)


def chats(server: ModelServer) -> list[dict[str, Any]]:
    """The requests that ask something; Ollama is asked what a model can do, too."""
    return [each for each in server.requests if len(each) > 1]


async def test_every_model_answers_whatever_it_refuses(server: ModelServer) -> None:
    """What it refuses is left out or renamed, and from then on not sent at all."""
    for name, refuses in CASES:
        server.refuses = refuses
        server.requests.clear()
        model = await reached(server, name)
        first = await ask(model, name)
        tries = len(chats(server))
        second = await ask(model, name)

        assert isinstance(first, ModelAnswered), (name, first)
        assert isinstance(second, ModelAnswered), (name, second)
        assert first.text == "Mind the step."
        assert len(chats(server)) == tries + 1, name
        assert tries <= 4, name


async def test_they_answer_in_parts_as_well(server: ModelServer) -> None:
    """Or whole, where parts are refused."""
    server.pace_s = 0.0
    for name, refuses in CASES:
        # The others speak in parts of another kind, which the double does not know.
        if not name.startswith(OWN_API):
            server.refuses = refuses
            found = await ask(await reached(server, name), name, hear)
            assert isinstance(found, ModelAnswered), (name, found)
            assert found.text == "Mind the step."


def named_in_readme() -> list[str]:
    """The models of the README's commands."""
    text = Path(__file__).parents[3].joinpath("README.md").read_text()
    return re.findall(r"^ECHOIC_MODEL_NAME=(\S+)", text, re.MULTILINE)


async def test_the_models_of_the_readme_answer_at_once(server: ModelServer) -> None:
    """Their first request is one that they take."""
    for name in named_in_readme():
        server.refuses = dict(CASES)[name]
        server.requests.clear()
        found = await ask(await reached(server, name), name)
        assert isinstance(found, ModelAnswered), (name, found)
        assert len(chats(server)) == 1


async def test_a_model_that_reasons_has_room_for_it(server: ModelServer) -> None:
    """And is asked to reason little; one that is seen to reason has room from then on."""
    await ask(await reached(server, "openai/gpt-5-mini"), "openai/gpt-5-mini")
    known = server.requests[-1]
    assert known["max_completion_tokens"] == ROOM_TOKENS
    assert known["reasoning_effort"] == "low"
    assert known["response_format"] == {"type": "json_object"}

    local = await reached(server, "openai/local")
    server.text = "<think>Is it sunny?</think>It is."
    await ask(local, "openai/local")
    await ask(local, "openai/local")
    limits = [each["max_tokens"] for each in server.requests[-2:]]
    assert limits == [ASKED.max_tokens, ROOM_TOKENS]


async def test_what_is_no_refusal_is_not_tried_otherwise(server: ModelServer) -> None:
    """Such as an unknown model, and an error that names nothing that was sent."""
    server.refuses = lambda _: "The model `local` does not exist"
    found = await ask(await reached(server, "openai/local"), "openai/local")

    assert isinstance(found, ModelFailed)
    assert len(server.requests) == 1


async def test_a_server_that_asks_for_patience_gets_it(server: ModelServer) -> None:
    """`Retry-After` is obeyed within the deadline; beyond it the call fails at once."""
    server.failures, server.retry_after = [429], "1"
    found = await ask(await reached(server, "openai/local"), "openai/local")
    assert isinstance(found, ModelAnswered)
    assert found.started_at is not None

    # In seconds, or as a date by the server's own clock.
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    for requests, waits in ((3, "40"), (4, date)):
        server.failures, server.retry_after = [429], waits
        late = await ask(await reached(server, "openai/local"), "openai/local")
        assert isinstance(late, ModelFailed)
        assert late.reason == "unavailable"
        assert len(server.requests) == requests


def test_an_error_is_read_for_what_it_names() -> None:
    """The first name counts, as a whole word, and only of what was sent."""
    sent = {"temperature": 0.7, "max_tokens": 300, "stream": True}
    nothing = Habits()

    limit = nothing.without(str(openai_reasoning({"max_tokens": 1})), sent)
    assert limit is not None
    assert (limit.limit, limit.left_out) == ("max_completion_tokens", ("max_tokens",))
    again = limit.without("unknown field max_completion_tokens", {limit.limit: 300})
    assert again is not None
    assert set(again.left_out) == {"max_tokens", "max_completion_tokens"}
    assert nothing.without("unsupported: top_k", sent) is None
    assert nothing.without("invalid upstream", sent) is None
    long = (
        "invalid_request_error: the maximum context length is 8192, reduce max_tokens"
    )
    assert nothing.without(long, sent) is None
    assert nothing.without("the temperature is 3 °C", sent) is None


REFUSALS = [
    ("Developer instruction is not enabled for models/gemma-3-27b-it", "system"),
    ("System instruction is not supported by this model", "system"),
    ("Only user and assistant roles are supported!", "system"),
    ("Jinja Exception: Conversation roles must alternate user/assistant/…", "system"),
    ("JSON mode is not enabled for models/gemma-3-27b-it", "response_format"),
    ("'response_format.type' must be 'json_schema' or 'text'", "response_format"),
    ("This model does not support the effort parameter.", "reasoning_effort"),
    ("`temperature` may only be set to 1 when thinking is enabled", "temperature"),
    ("temperature is deprecated for this model", "temperature"),
    ("Unsupported value: 'temperature' does not support 0.1", "temperature"),
    ("Your organization must be verified to stream this model.", "stream"),
    ("messages must be a list", None),
    ("The prompt must be shorter", None),
]


@pytest.mark.parametrize(("detail", "left_out"), REFUSALS)
def test_servers_refuse_in_many_words(detail: str, left_out: str | None) -> None:
    """What they name is not sent again; what names nothing is not tried otherwise."""
    sent = {
        "messages": [{"role": "system", "content": "Reply."}],
        "temperature": 0.7,
        "stream": True,
        "response_format": {"type": "json_object"},
        "reasoning_effort": "low",
    }

    found = Habits().without(detail, sent)

    assert (found.left_out if found else ()) == ((left_out,) if left_out else ())


async def test_a_template_that_refuses_is_no_fault_of_the_server(
    server: ModelServer,
) -> None:
    """llama.cpp answers 500 where a model's template has no system role."""
    server.failures = [500]
    server.failure = "Jinja Exception: Conversation roles must alternate user/assistant"
    found = await ask(await reached(server, "openai/local"), "openai/local")

    assert isinstance(found, ModelAnswered)
    assert [each["role"] for each in server.requests[-1]["messages"]] == ["user"]
    assert len(server.requests) == 2
