"""Asking live for a replay: within a budget, each thing once, and written down."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from msgspec import structs

from echoic.client.comparison import Job, compare_one
from echoic.client.recordings import FileSource
from echoic.client.requery import Requery
from echoic.errors import EchoicError
from evaluation.compare.session import Plan
from handlers.effects.completions import Completion, ModelError
from handlers.effects.models import LiteLLM
from replay.cassette import BudgetSpent, Spread
from replay.closed_loop.run import Answers
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import StrategySelected
from schemas.messages.experiments import Variant
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import StrategySpec
from streams.session_files.file import write_session
from tests.model_server import ModelServer, model_server
from tests.replay.scenarios import file_of_scenario
from tests.replay.test_cassette import asked
from tests.scenario import Scenario

pytestmark = pytest.mark.usefixtures("litellm_closed")


class Talker:
    """A model that answers, or fails when it is asked about hail."""

    def __init__(self) -> None:
        self.asked = 0

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """It keeps nothing open."""

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
        )


async def test_answers_are_written_down_and_found_again(tmp_path):
    """The file holds what the log would, and nothing in it is asked for twice."""
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
    assert (line["body"]["model"], line["body"]["input_tokens"]) == (
        "provider/model-1",
        10,
    )


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


async def test_a_chain_is_asked_as_the_mind_asks_it(tmp_path):
    """The next where one fails, or says what cannot be taken; money counts of all of them."""

    class Chained(Talker):
        """Models of which one is down, and one keeps to no form."""

        async def complete(self, asked, *, deadline_s, headers):
            if asked.model == "down":
                raise ModelError("unavailable", "it is down")
            said = await super().complete(asked, deadline_s=deadline_s, headers=headers)
            return replace(said, text="<think>so" if asked.model == "odd" else "Fine.")

    chain = structs.replace(asked("rain"), model="chain:down>odd>well")
    model = Chained()
    port = Requery(model, tmp_path / "asked.jsonl", calls=2, cost_usd=0.5)
    take = await port.ask(chain, 0)

    assert (take.text, model.asked) == ("Fine.", 2)
    assert take.cost_usd == Spread.exactly(0.5)
    with pytest.raises(BudgetSpent):
        await port.ask(chain, 1)


@pytest.mark.parametrize(
    "line", [b'{"key": ', b'{"key": "\xff"}', b'{"key": "b/0", "waited_ns": 1}']
)
def test_a_damaged_file_names_its_line(tmp_path, line):
    """A line that is no answer is shown by its number."""
    path = tmp_path / "asked.jsonl"
    body = b'{"ask_id": "a", "request_hash": "a", "reason": "declined"}'
    named = b'{"key": "a/0", "waited_ns": 1, "token": "model_failed", "body": '
    path.write_bytes(named + body + b"}\n" + line)

    with pytest.raises(EchoicError, match="line 2"):
        Requery(Talker(), path, calls=1)


@pytest.mark.model
def test_what_was_never_recorded_is_asked_live(tmp_path):
    """Two recordings one after the other ask a real endpoint; asked again, none is."""
    with model_server() as server:
        jobs = [_job(server, tmp_path, name, calls=9) for name in ("one", "two")]
        first = [compare_one(job, lambda done, whole: None) for job in jobs]
        requests = len(server.requests)
        jobs = [_job(server, tmp_path, name, calls=0) for name in ("one", "two")]
        again = [compare_one(job, lambda done, whole: None) for job in jobs]

    assert requests == 2
    assert len(server.requests) == requests
    for results in (first, again):
        texts = [
            text for each in results for text in each.closed_loops[0].texts.values()
        ]
        assert texts == ["Mind the step."] * 2


def _job(server: ModelServer, folder: Path, name: str, *, calls: int) -> Job:
    """The comparison of one event with a model's answer, in a file of its own."""
    asked = ModelSettings(name="openai/double", deadline_s=60.0)
    scenario = Scenario(model=asked)
    scenario.control(StrategySelected(strategy="silent"))
    scenario.sense(f"something new {name}", salience={"threat": 0.9})
    path = folder / f"{name}.echoic"
    if not path.exists():
        file = file_of_scenario(scenario)
        write_session(path, file)
    model = LiteLLM(api_base=server.base, api_key="none")
    port = Requery(model, folder / "asked.jsonl", calls=calls)
    always = Variant(strategy=StrategySpec(name="always_llm"))
    return Job(
        FileSource(path, "wordllama"),
        Plan(
            baseline=Variant(),
            challengers=(always,),
            answers=Answers(mode="requery", port=port),
        ),
    )
