"""Asking a model, against a real server on loopback: answers, failures, patience."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from handlers.effects.completions import Completion
from handlers.effects.model_call import TEXT_LIMIT, ask_model
from handlers.effects.models import LiteLLM
from schemas.codec.decode import BODY_LIMIT
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from tests.model_server import ModelServer, model_server
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("litellm_closed")]

ASKED = ModelAsked(
    decision_id="d",
    priority=1.0,
    expires_at=datetime(2026, 11, 21, tzinfo=UTC),
    ttl_s=30.0,
    model="openai/double",
    system="You are a companion.",
    prompt="The door opened.",
    temperature=0.5,
    max_tokens=50,
    deadline_s=60.0,
    channel="say",
    response_type="observation",
    request_hash="hash",
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model on a loopback port."""
    with model_server() as running:
        yield running


async def ask(
    server: ModelServer, within_s: float = PATIENCE_S, asked: ModelAsked = ASKED
) -> ModelAnswered | ModelFailed:
    """Ask the server through litellm."""
    model = LiteLLM(api_base=server.base, api_key="none")
    await model.prepare()
    headers = {"traceparent": "00-1-2-01"}
    return await ask_model(model, "ask", asked, within_s=within_s, headers=headers)


async def test_an_answer_says_what_it_took(server: ModelServer) -> None:
    """The answer bears the request's hash, tokens and time; the request its context."""
    answered = await ask(server)

    assert isinstance(answered, ModelAnswered)
    assert (answered.text, answered.request_hash) == ("Mind the step.", "hash")
    assert (answered.input_tokens, answered.output_tokens) == (11, 4)
    assert answered.latency_ms is not None
    assert answered.latency_ms > 0
    [request] = server.requests
    assert [each["content"] for each in request["messages"]] == [
        "You are a companion.",
        "The door opened.",
    ]
    assert (request["temperature"], request["max_tokens"]) == (0.5, 50)
    assert server.headers[0]["traceparent"] == "00-1-2-01"


@pytest.mark.parametrize("text", ["\ud800 half a character", "\u4e16" * 200_000])
async def test_whatever_a_model_says_can_be_kept(
    server: ModelServer, text: str
) -> None:
    """An answer that no log could hold is cut and mended, not asked for again."""
    server.text = text

    answered = await ask(server)

    assert isinstance(answered, ModelAnswered)
    assert len(answered.to_bytes()) < BODY_LIMIT


@pytest.mark.parametrize("failures", [[500], [503, 500], [429]])
async def test_what_passes_is_tried_again(
    server: ModelServer, failures: list[int]
) -> None:
    """The same request goes out again, at most twice, and its answer counts."""
    server.failures = list(failures)

    answered = await ask(server)

    assert isinstance(answered, ModelAnswered)
    assert [each.status for each in answered.repeated or ()] == failures
    times = [each.at for each in answered.repeated or ()]
    assert answered.started_at is not None
    assert [*times, answered.started_at] == sorted({*times, answered.started_at})
    assert len(server.requests) == len(failures) + 1
    assert all(request == server.requests[0] for request in server.requests)


@pytest.mark.parametrize(
    ("failures", "requests"), [([500, 500, 500], 3), ([401], 1), ([404], 1)]
)
async def test_what_does_not_pass_is_a_failure(
    server: ModelServer, failures: list[int], requests: int
) -> None:
    """After two repeats, or at once where repeating is pointless, it is unavailable."""
    server.failures = list(failures)

    failed = await ask(server)

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "unavailable"
    assert [each.status for each in failed.repeated or ()] == failures[:-1]
    assert len(server.requests) == requests


async def test_a_silent_model_times_out(server: ModelServer) -> None:
    """What does not answer by its deadline has timed out."""
    server.is_silent = True

    failed = await ask(server, asked=structs.replace(ASKED, deadline_s=0.3))

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "timeout"


async def test_nobody_is_asked_too_late(server: ModelServer) -> None:
    """An ask whose answer would be stale fails without a request."""
    failed = await ask(server, within_s=-1)

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "timeout"
    assert server.requests == []


@pytest.mark.parametrize(
    ("text", "finish"), [("", "stop"), (None, "length"), ("x", "content_filter")]
)
async def test_a_reply_is_kept_as_it_was_received(
    server: ModelServer, text: str | None, finish: str
) -> None:
    """What it means is for the mind to say, and it was paid for."""
    server.text, server.finish_reason = text, finish

    answered = await ask(server)

    assert isinstance(answered, ModelAnswered)
    assert (answered.text, answered.finish_reason) == (text or "", finish)
    assert answered.output_tokens == 4


def of(content: object) -> dict[str, object]:
    """Choices of one answer with some content."""
    message = {"role": "assistant", "content": content}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def counting(prompt: object, answer: object = 4) -> dict[str, object]:
    """Counts of tokens."""
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": answer}}


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    "changes",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [7]},
        of(["Mind", "the step."]),
        of([{"type": "text", "text": "Mind the step."}]),
        of({"text": "Mind the step."}),
        of(7),
        counting(12.5),
        counting(3e9),
        counting(10**30),
        counting(-1),
        counting(11, "many"),
        {"usage": "none"},
        {"usage": []},
        {"model": 7},
        {"model": ["double"]},
    ],
    ids=str,
)
async def test_a_malformed_answer_is_a_failure_once(
    server: ModelServer, changes: dict[str, object]
) -> None:
    """It is heard and recorded, or fails; the same is never asked and paid for again."""
    server.changes = changes

    failed = await ask(server)

    assert len(server.requests) == 1
    if isinstance(failed, ModelFailed):
        assert failed.reason == "no_response", failed.detail
    else:
        assert "Mind the step." in failed.text or failed.text == "7"
        assert (failed.input_tokens or 0) < 10**9


class Odd:
    """A model whose answers nobody expects."""

    def __init__(self, completion: object) -> None:
        """Answer with this."""
        self.completion, self.asked = completion, 0

    async def prepare(self) -> None:
        """It is ready."""

    async def close(self) -> None:
        """It keeps nothing open."""

    async def complete(self, *_: object, **__: object) -> Any:
        """Answer, or raise."""
        self.asked += 1
        if isinstance(self.completion, Exception):
            raise self.completion
        return self.completion


@pytest.mark.parametrize(
    "odd", [None, ValueError("?"), ExceptionGroup("?", [OSError()])]
)
async def test_whatever_a_model_does_is_a_failure_once(odd: object) -> None:
    """What nobody foresaw is recorded as no response, not tried for ever."""
    model = Odd(odd)

    failed = await ask_model(model, "ask", ASKED, within_s=PATIENCE_S, headers={})

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "no_response"
    assert model.asked == 1


async def test_without_a_model_it_is_unavailable() -> None:
    """An ask of an earlier run finds no model now, and is answered all the same."""
    failed = await ask_model(None, "ask", ASKED, within_s=PATIENCE_S, headers={})

    assert isinstance(failed, ModelFailed)
    assert failed.reason == "unavailable"


async def test_calls_share_a_connection(server: ModelServer) -> None:
    """Whatever is left of each one's deadline; a client is made in milliseconds."""
    model = LiteLLM(api_base=server.base, api_key="none")
    await model.prepare()
    for deadline_s in (60.0, 59.0, 58.0):
        asked = structs.replace(ASKED, deadline_s=deadline_s)
        answered = await ask_model(model, "ask", asked, within_s=PATIENCE_S, headers={})
        assert isinstance(answered, ModelAnswered)

    assert len(server.requests) == 3
    assert len(server.clients) == 1


async def test_a_closed_model_holds_no_connection_and_answers_again(
    server: ModelServer,
) -> None:
    """Nothing is left to be closed by the garbage collector."""
    model = LiteLLM(api_base=server.base, api_key="none")
    await model.prepare()
    await ask_model(model, "ask", ASKED, within_s=PATIENCE_S, headers={})

    await model.close()

    assert await asyncio.to_thread(server.is_left, PATIENCE_S)
    answered = await ask_model(model, "ask", ASKED, within_s=PATIENCE_S, headers={})
    assert isinstance(answered, ModelAnswered)
    assert len(server.clients) == 2


async def test_a_price_of_ones_own_counts(server: ModelServer) -> None:
    """A budget in dollars needs one where litellm's list lacks the model."""
    model = LiteLLM(server.base, "none", (1.0, 10.0))
    answered = await ask_model(model, "ask", ASKED, within_s=PATIENCE_S, headers={})

    assert isinstance(answered, ModelAnswered)
    # Eleven tokens of the prompt, four of the answer.
    assert answered.cost_usd == pytest.approx(51e-6)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # "You are a companion.", "The door opened." and "Mind the step." have 50 characters.
        ({"usage": None}, 13),
        ({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}, 13),
        ({"usage": {"prompt_tokens": 11, "completion_tokens": 4}}, None),
    ],
)
async def test_what_no_server_counts_is_estimated(
    server: ModelServer, usage: dict[str, object], expected: int | None
) -> None:
    """By the characters of prompt and reply: the log keeps it, and a replay counts it."""
    server.changes = usage
    answered = await ask(server)

    assert isinstance(answered, ModelAnswered)
    assert answered.estimated_tokens == expected
    assert answered.tokens == (expected or 15)


async def test_an_answer_longer_than_is_kept_is_cut_off() -> None:
    """So that only its whole sentences are said."""

    class Rambling(LiteLLM):
        async def complete(self, *_: object, **__: object) -> Completion:
            return Completion(
                text="I go on. " * 9_000,
                model="m",
                latency_ms=1.0,
                finish_reason="stop",
            )

    answered = await ask_model(
        Rambling(), "ask", ASKED, within_s=PATIENCE_S, headers={}
    )

    assert isinstance(answered, ModelAnswered)
    assert (len(answered.text), answered.finish_reason) == (TEXT_LIMIT, "length")
