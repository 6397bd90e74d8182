"""An answer that is meant for a program and cannot be read is a failure, whole or streamed."""

from collections.abc import Mapping

import pytest

from handlers.effects.model_call import ask_model
from handlers.effects.models import Completion, Hear
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from tests.handlers.effects.test_effects import model_asked
from tests.schemas.codec.test_model_answer import SAYS, UNREADABLE


class Saying:
    """A model that says one thing, at once or in parts."""

    def __init__(self, text: str) -> None:
        self.text, self.calls = text, 0

    async def prepare(self) -> None:
        """Be ready."""

    async def close(self) -> None:
        """Have nothing open."""

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        """Say it."""
        self.calls += 1
        return Completion(text=self.text, model="double", latency_ms=1.0)

    async def stream(
        self,
        asked: ModelAsked,
        hear: Hear,
        *,
        deadline_s: float,
        headers: Mapping[str, str],
    ) -> Completion:
        """Say half of it first."""
        await hear(self.text[: len(self.text) // 2])
        return await self.complete(asked, deadline_s=deadline_s, headers=headers)


async def hear(words: str) -> None:
    """Listen."""


async def answer_of(model: Saying, heard: Hear | None) -> ModelAnswered | ModelFailed:
    """What comes of a question."""
    asked = model_asked("door")
    return await ask_model(model, "ask", asked, within_s=9.0, headers={}, hear=heard)


@pytest.mark.parametrize("heard", [None, hear], ids=["whole", "streamed"])
@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
async def test_json_that_cannot_be_read_is_a_failure(
    text: str, heard: Hear | None
) -> None:
    """It says so, and is not asked for again: the same would come, and cost, again."""
    model = Saying(text)
    found = await answer_of(model, heard)

    assert isinstance(found, ModelFailed)
    assert found.reason == "no_response"
    assert found.detail.startswith("the answer is malformed: it")
    assert model.calls == 1


@pytest.mark.parametrize("heard", [None, hear], ids=["whole", "streamed"])
@pytest.mark.parametrize("text", SAYS)
async def test_whatever_else_is_an_answer(text: str, heard: Hear | None) -> None:
    """Words, and objects that can be read."""
    found = await answer_of(Saying(text), heard)

    assert isinstance(found, ModelAnswered)
    assert found.text == text
