"""Exploration that a worker did, found in its log and repeated from there."""

from collections import Counter

import pytest

from replay.verify import Span, verify
from schemas.codec.catalogue import ControlMessage
from schemas.codec.decode import read_output
from schemas.codec.encode import write_input
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.decisions import Decided
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import ExplorationSettings, StrategySpec
from schemas.values.subjects import partition_of
from streams.groups import answer
from tests.memory_log import MemoryLog
from tests.minds import all_groups, bringer, publish, sensed, started, working

AGENT = "ada"
PARTITION = partition_of(AGENT)
EVENTS = 120
TAUGHT: tuple[ControlMessage, ...] = (
    HeuristicSeeded(
        heuristic_id="door",
        name="door",
        domain="cam",
        condition="somebody is at the door",
        text="Go and look.",
        confidence=0.8,
    ),
    HeuristicSeeded(
        heuristic_id="bell",
        name="bell",
        domain="cam",
        condition="somebody rings at the door",
        text="The bell rang.",
        confidence=0.75,
    ),
)


async def explored(strategy: str, scheme: ExplorationSettings | None) -> MemoryLog:
    """The log of a worker that answered many events."""
    log = MemoryLog()
    message = started(
        strategy=StrategySpec(name=strategy),
        exploration=scheme,
        relevance=0.0,
        model=ModelSettings(name="test/model"),
    )
    async with working(log, log, message) as worker:
        for number, control in enumerate(TAUGHT):
            wire = write_input(
                control, agent=AGENT, partition=PARTITION, id_=f"t{number}", source="/t"
            )
            await log.append(wire, f"t{number}")
        wires = [
            sensed(AGENT, f"e{number}", "somebody is at the door", urgency=urgency)
            for number in range(EVENTS)
            for urgency in [0.95 if number % 10 == 0 else 0.5]
        ]
        last = (await publish(log, wires))[-1]
        await answer(log, PARTITION, last, 20.0)
        assert worker.ready.is_set()
    return log


async def decisions(log: MemoryLog) -> list[Decided]:
    """Every decision in the log."""
    found = [
        read_output(record).message
        for group in await all_groups(log, AGENT)
        for record in group.outputs
        if record.subject.endswith(".decided")
    ]
    return [each for each in found if isinstance(each, Decided)]


async def check_replay(log: MemoryLog) -> None:
    """The log's inputs give its outputs again, to the last byte."""
    found = await verify(log, Span(PARTITION), bringer(log))
    assert found.is_identical, found.divergence
    assert found.total > EVENTS


async def test_challenger_exploration_is_recorded_and_repeated() -> None:
    """Where the challenger differs it has its share; critical events are left alone."""
    challenger = StrategySpec(name="always_llm")
    log = await explored(
        "heuristic_first",
        ExplorationSettings(scheme="challenger", rate=0.3, challengers=(challenger,)),
    )
    made = await decisions(log)
    critical = [each for each in made if each.exploration_excluded]
    others = [each for each in made if not each.exploration_excluded]
    taken = Counter(each.path for each in others)
    sigma = (len(others) * 0.3 * 0.7) ** 0.5

    assert len(critical) == EVENTS / 10
    assert {each.path for each in critical} == {"heuristic"}
    assert {each.exploration for each in critical} == {"none"}
    assert {each.exploration for each in others} == {"challenger"}
    assert abs(taken["llm"] - 0.3 * len(others)) < 4 * sigma
    await check_replay(log)


@pytest.mark.parametrize("strategy", ["urgency", "thompson"])
async def test_every_strategy_can_be_explored_and_repeated(strategy: str) -> None:
    """Uniform exploration over strategies of either sort: certain, or drawing itself."""
    log = await explored(strategy, ExplorationSettings(scheme="uniform", rate=0.4))
    made = await decisions(log)

    assert {each.strategy for each in made} == {strategy}
    assert any(each.arm != each.greedy_arm for each in made)
    for each in made:
        weighed = {one.arm: one.probability for one in each.candidates}
        assert round(sum(weighed.values()), 6) == 1.0
        assert each.probability == weighed[each.arm] > 0.0
    await check_replay(log)
