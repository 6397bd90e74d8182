"""A source that sends too much: the excess is answered unread, and nobody else suffers."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from random import Random

import orjson
import pytest

from handlers.aids import AidProvider, PackLibrary
from handlers.mind.turn import Turn
from projections.folds import rate_limits
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input
from schemas.messages.decisions import Decided
from schemas.messages.learning import FeedbackRefused
from schemas.messages.notes import Handled, Quarantined
from schemas.state import limits
from schemas.state.agent import Allowance, PartitionState
from schemas.values import subjects
from schemas.values.record import Record, nanoseconds
from schemas.values.settings import IntakeSettings, MindSettings
from schemas.values.vectors import Vector
from streams.groups import Group
from tests import factories
from tests.factories import AGENT, NOON
from tests.memory_log import MemoryLog
from tests.minds import the_embedder
from tests.scenario import Scenario, names, one

LIMIT = IntakeSettings(rate=10.0, burst=3)


def answers(scenario: Scenario, count: int, source: str = "game") -> list[str]:
    """How so many events in one instant are answered: the reason, or the decision."""
    turns = [scenario.sense("dusk", source=source) for _ in range(count)]
    return [
        one(turn, Quarantined).reason if names(turn) == ["Quarantined"] else "decided"
        for turn in turns
    ]


def test_the_excess_is_answered_unread() -> None:
    """The burst is decided on, the rest is not, until time has brought allowance back."""
    scenario = Scenario(intake=LIMIT)

    assert answers(scenario, 5) == ["decided"] * 3 + ["rate"] * 2
    assert answers(scenario.wait(0.1), 2) == ["decided", "rate"]
    assert answers(scenario.wait(0.09), 1) == ["rate"]
    assert answers(scenario.wait(60), 5) == ["decided"] * 3 + ["rate"] * 2


def test_each_source_and_agent_has_its_own() -> None:
    """Who sends too much takes nothing from others."""
    scenario = Scenario(intake=LIMIT)

    assert answers(scenario, 5).count("rate") == 2
    assert answers(scenario, 3, source="user") == ["decided"] * 3
    scenario.agent = next(
        name
        for name in map("a{}".format, range(99))
        if subjects.partition_of(name) == scenario.partition and name != AGENT
    )
    assert answers(scenario, 3) == ["decided"] * 3


def test_without_the_setting_everything_is_taken() -> None:
    """As in all logs of before, whose states and settings stay what they were."""
    scenario = Scenario()

    assert answers(scenario, 50) == ["decided"] * 50
    assert len(scenario.mind.intake) == 0
    assert b"intake" not in factories.mind_started().to_bytes()


def test_what_is_shed_is_counted_and_leaves_nothing_else() -> None:
    """The state after is that before, but for the chain, the place and the count."""
    scenario = Scenario(intake=LIMIT)
    answers(scenario, 3)
    before = scenario.mind

    answers(scenario, 4)
    after = scenario.mind

    assert after.intake["game"].shed == 4
    assert after.intake["game"].free_at_ns == before.intake["game"].free_at_ns
    for name in before.__struct_fields__:
        if name not in ("chain", "intake"):
            assert getattr(after, name) == getattr(before, name), name


def test_repeats_and_garbage_count_as_well() -> None:
    """Nobody may send without bound what is refused anyway."""
    scenario = Scenario(intake=LIMIT)
    subject = subjects.input_subject(scenario.partition, AGENT, "sensor", "game.vital")
    scenario.sense("dusk", id_="one")

    assert names(scenario.sense("dusk", id_="one")) == [Handled.__name__]
    assert one(scenario.take(subject, b"\xff"), Quarantined).reason == "not_utf8"
    assert one(scenario.take(subject, b"\xff"), Quarantined).reason == "rate"


def test_votes_of_sensors_count_those_of_callers_do_not() -> None:
    """Who may only publish is held to a rate; who calls is not a sensor."""
    scenario = Scenario(intake=LIMIT)
    subject = subjects.input_subject(
        scenario.partition, AGENT, "sensor", "tom.feedback"
    )
    vote = orjson.dumps({"decision_id": "none", "rating": "positive"})
    published = [names(scenario.take(subject, vote)) for _ in range(5)]
    called = [scenario.feedback("none") for _ in range(5)]

    assert published == [["FeedbackRefused"]] * 3 + [["Quarantined"]] * 2
    assert all(one(turn, FeedbackRefused) for turn in called)


def test_a_clock_put_back_does_not_silence_a_source() -> None:
    """An allowance that no burst could have left is one of another time."""
    scenario = Scenario(intake=LIMIT)
    answers(scenario, 5)
    scenario.at -= timedelta(hours=1)

    assert answers(scenario, 4) == ["decided"] * 3 + ["rate"]


def test_the_state_stays_bounded() -> None:
    """However many sources there are, the allowances of the newest are kept."""
    scenario = Scenario(intake=LIMIT)
    for number in range(2 * limits.SOURCES + 10):
        subject = f"ev.{scenario.partition}.in.{AGENT}.sensor.s{number}.x"
        record = Record(subject, {"ce-id": str(number)}, b"", 1, nanoseconds(NOON))
        input_ = read_input(record)
        agent = rate_limits.unless_excess(scenario.mind, scenario.settings, input_)
        assert agent is not None
        state = PartitionState(
            shared=scenario.state.shared, agents=scenario.state.agents.set(AGENT, agent)
        )
        scenario.state = state

    assert len(scenario.mind.intake) <= 2 * limits.SOURCES


@pytest.mark.parametrize("rate", [1e-6, 0.3, 7.0, 1e6])
def test_an_allowance_is_whole_nanoseconds(rate: float) -> None:
    """Of any rate, so that it is the same wherever it is folded."""
    limit = IntakeSettings(rate=rate, burst=2)

    first = rate_limits.after(Allowance(), limit, 10**18)
    assert first is not None
    assert first.free_at_ns == 10**18 + round(1e9 / rate)
    second = rate_limits.after(first, limit, 10**18)
    assert second is not None
    assert rate_limits.after(second, limit, 10**18) is None


def told(scenario: Scenario, random: Random, count: int) -> list[Input]:
    """Inputs of a few sources, with changes of the settings among them."""
    at, inputs = nanoseconds(NOON), []
    for place in range(count):
        at += random.choice((0, 0, 10**7, 10**8))
        if random.random() < 0.03:
            limit = random.choice((None, LIMIT, IntakeSettings(rate=50.0, burst=1)))
            body = factories.mind_started(intake=limit).to_bytes()
            subject = f"ev.{scenario.partition}.in._.control.mind_started"
        else:
            source = random.choice(("cam", "mic"))
            subject = f"ev.{scenario.partition}.in.{AGENT}.sensor.{source}.seen"
            body = random.choice((b'{"text": "dusk"}', b"\xff", b"{}"))
        headers = {"ce-id": str(random.randrange(count)), "ce-specversion": "1.0"}
        inputs.append(read_input(Record(subject, headers, body, place + 1, at)))
    return inputs


@pytest.mark.parametrize("seed", range(20))
def test_what_will_be_shed_is_known_before(seed: int) -> None:
    """Of a batch, by the state before it, exactly as the mind then answers."""
    scenario, random = Scenario(intake=LIMIT), Random(seed)
    inputs = told(scenario, random, 200)

    while inputs:
        batch = inputs[: random.randrange(1, 60)]
        foretold = rate_limits.sheds({scenario.partition: scenario.state}, batch)
        for taken, is_shed in zip(batch, foretold, strict=False):
            turn = scenario.answer(taken.record)
            scenario.state = turn.state
            first = turn.outputs[0].message
            reason = first.reason if isinstance(first, Quarantined) else ""
            assert (reason == "rate") == is_shed
        del inputs[: len(foretold)]


class Counting:
    """The tests' embedder, which remembers what it embedded."""

    exact = True

    def __init__(self) -> None:
        self.name, self.limits = the_embedder().name, the_embedder().limits
        self.dimension = the_embedder().dimension
        self.digest, self.texts = the_embedder().digest, list[str]()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """As the embedder does."""
        self.texts += texts
        return the_embedder().embed(texts)


async def test_what_is_shed_is_not_embedded_neither_now_nor_in_a_replay() -> None:
    """Not by the worker, which knows before, nor by who reads the log again."""
    scenario, embedder, log = Scenario(intake=LIMIT), Counting(), MemoryLog()
    bringer = AidProvider(embedder, PackLibrary(log, embedder))
    turns_ = [scenario.sense(f"dusk {number}") for number in range(5)]
    inputs = [turn.input for turn in turns_]
    begun = Scenario(intake=LIMIT).state

    shed = rate_limits.sheds({scenario.partition: begun}, inputs)
    await bringer.for_inputs(inputs, shed)
    new, embedder.texts = embedder.texts, []
    again = [
        aids
        async for _, _, aids in bringer.for_recorded(_each(turns_))
        if aids.vector is not None
    ]

    assert new == embedder.texts == ["dusk 0", "dusk 1", "dusk 2"]
    assert len(again) == 3
    assert names(turns_[2])[0] == Decided.__name__


async def _each(turns_: Sequence[Turn]) -> AsyncIterator[Group]:
    for turn in turns_:
        yield Group(turn.input.record, tuple(each.record for each in turn.outputs))


def test_the_settings_of_before_have_no_rate() -> None:
    """A recorded start without it is read as none."""
    assert factories.settings().intake is None
    assert MindSettings.model_validate(factories.settings().model_dump()).intake is None
