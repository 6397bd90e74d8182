"""A scenario and the log of it: what a test lets happen, as the projector reads it.

`tests.scenario` takes the turns; this stores them as a worker would, at the same sequences.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handlers.mind.needs import needs_of
from handlers.mind.turn import Turn
from projections.projector.rebuild import Here
from projections.rows.changes import TableChanges, TableName, join
from projections.rows.changes_of_group import changes_of
from projections.rows.folded_group import Folded
from projections.store.store import Store
from schemas.codec.envelope import Input
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids, embedded
from schemas.state.agent import PartitionState
from schemas.values.reasons import NO_ROWS
from schemas.values.record import Wire
from streams.log import GroupWrite
from tests import factories
from tests.memory_log import MemoryLog
from tests.scenario import Scenario

LOW = "health is low"
EATEN = "ate a cow"

GARDEN = factories.pack(
    factories.heuristic("eat", LOW, "Eat something.", 0.8),
    factories.heuristic("rest", "night has come", "Sleep now.", 0.6),
    patterns=[
        factories.pattern("health", "ate", 60.0),
        factories.pattern("health", "died", 60.0, success=False),
    ],
)
HINTS = {"threat": 0.9}


class Words:
    """Brings aids as `Scenario` has them."""

    def __init__(self, packs: Mapping[str, CompiledPack]) -> None:
        self._packs = packs

    async def for_inputs(
        self, inputs: Sequence[Input], shed: Sequence[bool] = ()
    ) -> list[Aids]:
        """Embed the texts and hand out all packs."""
        return [aids_of(taken, self._packs) for taken in inputs]


class Chronicle:
    """A log in memory that is told a scenario as it goes on."""

    def __init__(self, scenario: Scenario) -> None:
        """Begin with an empty log; `catch_up` tells it what has happened."""
        self.scenario = scenario
        self.aids = Words(scenario.blobs)
        self.log = MemoryLog(epoch=factories.EPOCH, clock=self._clock)
        self._told = 0
        self._now = 0
        self._last_output = 0

    @property
    def last_input(self) -> int:
        """The sequence of the last input."""
        return self.scenario.turns[-1].input.sequence

    async def catch_up(self) -> MemoryLog:
        """Store the turns that were taken since."""
        for turn in self.scenario.turns[self._told :]:
            await self._store(turn)
        self._told = len(self.scenario.turns)
        return self.log

    async def _store(self, turn: Turn) -> None:
        record, partition = turn.input.record, turn.input.partition
        self._now = record.time_ns
        wire = Wire(record.subject, record.headers, record.body)
        assert await self.log.append(wire, str(record.sequence)) == record.sequence
        # The broker stores outputs a little later than the input they answer.
        self._now += 2_000_000
        messages = tuple(
            Wire(each.record.subject, each.record.headers, each.record.body)
            for each in turn.outputs
        )
        write = GroupWrite(partition, self._last_output, messages)
        self._last_output = (await self.log.commit([write]))[partition]

    def _clock(self) -> int:
        return self._now


def here(
    chronicle: Chronicle, store: Store, told: Callable[[int], None] = lambda _: None
) -> Here:
    """What fills tables with a chronicle in this process."""
    return Here(chronicle.log, store, chronicle.aids, told)


def garden(**settings: Any) -> Scenario:
    """A scenario with the garden pack."""
    return Scenario(GARDEN, **settings)


def eventful(scenario: Scenario) -> Scenario:
    """Let something of every sort happen."""
    advised = scenario.sense(LOW, salience=HINTS, fields={"health": 2})
    scenario.wait(1).feedback(advised, "positive", actor="kim", comment="good")
    scenario.wait(1).feedback(advised, "negative", actor="kim")
    scenario.wait(1).sense(EATEN, type_="thing")
    scenario.wait(1).sense("the wind blows")
    scenario.wait(1).sense("not read", headers={"ce-schemaversion": "x"})
    scenario.wait(3600).sense(LOW, salience=HINTS)
    scenario.wait(100).sense("the wind blows again")
    return scenario


def joined(scenario: Scenario) -> Mapping[TableName, TableChanges]:
    """The rows that the whole scenario comes to, of which none may be missing."""
    state = PartitionState()
    changes = []
    for turn in scenario.turns:
        aids = aids_of(turn.input, scenario.blobs)
        folded = Folded(state, turn.input, turn.outputs, turn.state, aids)
        changes += changes_of(folded)
        state = turn.state
    made = join(changes)
    if "quarantine" in made:
        kept = made["quarantine"].puts.values()
        assert not [row for row in kept if row["reason"] == NO_ROWS]
    return made


def aids_of(taken: Input, packs: Mapping[str, CompiledPack]) -> Aids:
    """The aids of an input."""
    need = needs_of(taken, packs.values())
    vector = factories.embed(need.text) if need.text is not None else None
    vectors = {embedded(text): factories.embed(embedded(text)) for text in need.further}
    return Aids(vector=vector, packs=packs, vectors=vectors)
