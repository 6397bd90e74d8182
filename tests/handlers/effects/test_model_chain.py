"""A chain of models: who is asked, who answers, and what is kept of the others."""

import asyncio
from collections.abc import Mapping

import pytest
from msgspec import structs

from handlers.effects.completions import Completion, ModelError
from handlers.effects.model_chain import ask_models
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.values.model_settings import chain_in_words, chain_of, links_of
from tests.handlers.effects.test_models import ASKED
from tests.patience import PATIENCE_S

SUNNY = '{"response": "It is sunny.", "predicted_success": 0.8}'
RAINY = '{"response": "It rains."}'
CHAIN = chain_of(["a", "b", "c"])

Behaviour = str | ModelError | float


class Double:
    """Models that each answer, fail or take their time."""

    def __init__(self, **models: Behaviour) -> None:
        self.models = models
        self.asked: list[tuple[str, float]] = []

    async def prepare(self) -> None:
        """Nothing."""

    async def close(self) -> None:
        """Nothing."""

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Do what the model does."""
        self.asked.append((asked.model, deadline_s))
        does = self.models[asked.model]
        if isinstance(does, ModelError):
            raise does
        if isinstance(does, float):
            await asyncio.sleep(does)
        return Completion(
            text=str(does),
            model=f"{asked.model}-1",
            latency_ms=7.0,
            input_tokens=10,
            output_tokens=2,
            cost_usd=0.25,
        )


async def answered(
    double: Double, *, purpose: str = "answer", deadline_s: float = 60.0
) -> ModelAnswered | ModelFailed:
    """What the chain of a, b and c comes to."""
    asked = structs.replace(ASKED, model=CHAIN, purpose=purpose, deadline_s=deadline_s)
    return await ask_models(double, "ask", asked, within_s=PATIENCE_S, headers={})


REFUSED = ModelError("unavailable", "401: no such key")
LIMITED = ModelError("unavailable", "429", is_passing=True, retry_after_s=60.0)


@pytest.mark.parametrize(
    ("first", "reason", "kept"),
    [
        (REFUSED, "unavailable", None),
        (LIMITED, "unavailable", None),
        (ModelError("timeout", "no answer"), "timeout", None),
        (ModelError("declined", "filtered"), "declined", None),
        ('{"text": "It is sunny."}', "malformed", '{"text": "It is sunny."}'),
        ("<think>Hm.", "malformed", "<think>Hm."),
        ("", "malformed", ""),
        ("It is sunny.<|im_end|>", "malformed", "It is sunny.<|im_end|>"),
    ],
)
async def test_the_next_is_asked_where_one_gives_nothing_that_can_be_taken(
    first: Behaviour, reason: str, kept: str | None
) -> None:
    """What it did is kept, and its price counts."""
    double = Double(a=first, b=SUNNY, c=RAINY)

    reply = await answered(double)

    assert isinstance(reply, ModelAnswered)
    assert (reply.text, reply.link, reply.model) == (SUNNY, "b", "b-1")
    assert [model for model, _ in double.asked] == ["a", "b"]
    assert reply.attempts is not None
    (tried,) = reply.attempts
    assert (tried.model, tried.reason, tried.text) == ("a", reason, kept)
    assert tried.latency_ms is not None
    assert reply.cost_usd == (0.25 if kept is None else 0.5)
    assert tried.tokens == (0 if kept is None else 12)


async def test_the_first_that_answers_is_the_last_that_is_asked() -> None:
    """Also one that chooses to say nothing: that is an answer."""
    double = Double(a='{"response": ""}', b=SUNNY, c=SUNNY)

    reply = await answered(double)

    assert isinstance(reply, ModelAnswered)
    assert (reply.link, reply.attempts, reply.cost_usd) == ("a", None, 0.25)


async def test_each_has_its_share_of_one_deadline() -> None:
    """A model that hangs takes a third; who comes last has what is left."""
    double = Double(a=60.0, b=60.0, c=SUNNY)

    reply = await answered(double, deadline_s=0.6)

    assert isinstance(reply, ModelAnswered)
    assert reply.link == "c"
    shares = [share for _, share in double.asked]
    assert shares == pytest.approx([0.2, 0.2, 0.2], abs=0.1)
    assert [each.reason for each in reply.attempts or ()] == ["timeout", "timeout"]


async def test_where_all_fail_the_last_says_why() -> None:
    """With what was tried before it, so that a budget counts it."""
    double = Double(a="<think>Hm.", b=REFUSED, c=REFUSED)

    reply = await answered(double)

    assert isinstance(reply, ModelFailed)
    assert (reply.reason, reply.detail, reply.link) == (
        "unavailable",
        str(REFUSED),
        "c",
    )
    assert [each.model for each in reply.attempts or ()] == ["a", "b"]


async def test_the_last_ones_reply_is_left_to_the_mind() -> None:
    """Which says that nobody may hear it, and why."""
    reply = await answered(Double(a=REFUSED, b=REFUSED, c="<think>Hm."))

    assert isinstance(reply, ModelAnswered)
    assert (reply.text, reply.link) == ("<think>Hm.", "c")


async def test_what_has_a_reader_of_its_own_is_taken_in_any_form() -> None:
    """A rule is no answer to a person; only what is no content is passed over."""
    rule = '{"condition": "x", "message": "y"}'

    reply = await answered(Double(a=rule, b=SUNNY, c=SUNNY), purpose="formation")

    assert isinstance(reply, ModelAnswered)
    assert (reply.link, reply.text) == ("a", rule)


async def test_nobody_is_asked_too_late() -> None:
    """The chain ends before it begins, as a model alone does."""
    double = Double(a=SUNNY, b=SUNNY, c=SUNNY)
    asked = structs.replace(ASKED, model=CHAIN)

    reply = await ask_models(double, "ask", asked, within_s=0.0, headers={})

    assert isinstance(reply, ModelFailed)
    assert (reply.reason, double.asked) == ("timeout", [])


async def test_nobody_else_is_asked_once_the_answer_is_stale() -> None:
    """The one that took so long says why there is none."""
    double = Double(a=60.0, b=SUNNY, c=SUNNY)
    asked = structs.replace(ASKED, model=CHAIN, deadline_s=0.3)

    reply = await ask_models(double, "ask", asked, within_s=0.05, headers={})

    assert isinstance(reply, ModelFailed)
    assert (reply.reason, reply.link, reply.attempts) == ("timeout", "a", None)
    assert [model for model, _ in double.asked] == ["a"]


def test_names_of_chains() -> None:
    """Of one model its own; a chain's name tells its models."""
    assert CHAIN == "chain:a>b>c"
    assert links_of(CHAIN) == ("a", "b", "c")
    assert links_of("ollama/llama3.2:1b") == ("ollama/llama3.2:1b",)
    assert chain_of(["a"]) == "a"
    assert chain_in_words(CHAIN) == "a, then b, then c"


@pytest.mark.parametrize("models", [["a", "a"], ["a", ""], ["a>b"], list("abcdefghi")])
def test_what_is_no_chain_is_refused(models: list[str]) -> None:
    """A name twice, none, one that would divide names, too many."""
    with pytest.raises(ValueError, match=r"."):
        chain_of(models)
