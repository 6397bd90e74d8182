"""Asking live for a replay: within a budget, each thing once, and written down."""

from collections.abc import Mapping

import orjson
import pytest

from echoic.errors import EchoicError
from echoic.requery import Requery
from handlers.effects.models import Completion, ModelError
from replay.cassette import BudgetSpent, Spread
from schemas.asks import ModelAsked
from tests.replay.test_cassette import asked


class Talker:
    """A model that answers, or fails when it is asked about hail."""

    def __init__(self) -> None:
        self.asked = 0

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def complete(
        self, asked: ModelAsked, *, deadline_s: float, headers: Mapping[str, str]
    ) -> Completion:
        self.asked += 1
        if "hail" in asked.prompt:
            raise ModelError("declined", "not about hail")
        return Completion(
            text=f"Said of {asked.prompt}",
            model="provider/model-1",
            latency_ms=12.5,
            input_tokens=10,
            output_tokens=5,
            cost_usd=0.25,
            fingerprint="fp-1",
        )


async def test_answers_are_written_down_and_found_again(tmp_path):
    """The file names model and fingerprint, and nothing in it is asked for twice."""
    path, model = tmp_path / "asked.jsonl", Talker()
    first = Requery(model, path, calls=5)
    takes = [await first.ask(asked("rain"), n) for n in (0, 1)]
    failed = await first.ask(asked("hail"), 0)
    again = Requery(model, path, calls=0)

    assert [await again.ask(asked("rain"), n) for n in (0, 1)] == takes
    assert await again.ask(asked("hail"), 0) == failed
    assert model.asked == 3
    assert (takes[0].text, takes[0].source) == ("Said of rain", "asked")
    assert (takes[0].tokens, takes[0].cost_usd) == (15, Spread.exactly(0.25))
    assert (failed.text, failed.failure) == (None, "declined")
    line = orjson.loads(path.read_bytes().splitlines()[0])
    assert (line["model"], line["fingerprint"]) == ("provider/model-1", "fp-1")


async def test_calls_are_bounded(tmp_path):
    """No more calls are made than were granted."""
    port = Requery(Talker(), tmp_path / "asked.jsonl", calls=1)
    await port.ask(asked("rain"), 0)

    with pytest.raises(BudgetSpent):
        await port.ask(asked("snow"), 0)


async def test_money_is_bounded(tmp_path):
    """When the money is spent, nothing more is asked."""
    port = Requery(Talker(), tmp_path / "asked.jsonl", calls=9, cost_usd=0.4)
    await port.ask(asked("rain"), 0)
    await port.ask(asked("snow"), 0)

    with pytest.raises(BudgetSpent):
        await port.ask(asked("fog"), 0)


def test_a_damaged_file_names_its_line(tmp_path):
    """A line that is no answer is shown by its number."""
    path = tmp_path / "asked.jsonl"
    path.write_text('{"key": "a/0"}\n{"key": ')

    with pytest.raises(EchoicError, match="line 2"):
        Requery(Talker(), path, calls=1)
