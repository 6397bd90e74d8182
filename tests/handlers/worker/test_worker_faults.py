"""Inputs that raise, against a real broker: answered, with their neighbours, for ever."""

from collections.abc import Iterator
from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace

from echoic.client.connection import LiveLog
from echoic.doors.services import Services
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.stages import intake
from handlers.worker.listening import Listeners
from handlers.worker.recovery import Recovery
from projections.projector.folding import Folding
from replay.verify import Span, verify
from schemas.codec import checkpoint as codec
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input, read_output
from schemas.codec.encode import write_input
from schemas.messages.controls import PackLoaded, ProfileSet
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.notes import Quarantined
from schemas.messages.results import ClockTicked, ModelFailed
from schemas.ports.faults import MissingPackError
from schemas.values.record import Wire
from schemas.values.subjects import partition_of
from schemas.values.vectors import Vector
from streams.audit import audit
from streams.groups import answer
from tests import factories
from tests.handlers.worker.test_worker import PACK, control
from tests.minds import (
    all_groups,
    bringer,
    publish,
    sensed,
    started,
    the_embedder,
    until,
    working,
)
from tests.patience import PATIENCE_S
from tests.servers import Broker, opened

pytestmark = pytest.mark.services

ADA = "ada"
PARTITION = partition_of(ADA)
MESSAGES: tuple[InputMessage, ...] = (
    FeedbackGiven(decision_id="d", rating="positive"),
    ProfileSet(biases={}),
    ClockTicked(due_at=factories.NOON),
    ModelFailed(ask_id="a", request_hash="r", reason="timeout"),
)


def told(message: InputMessage, id_: str) -> Wire:
    """An input of the agent's of any kind."""
    return write_input(message, agent=ADA, partition=PARTITION, id_=id_, source="/test")


def inputs(turn: int) -> list[Wire]:
    """One poisoned input of each kind, and a sound event behind each."""
    poisoned = [
        sensed(ADA, f"poison-{turn}", "a visitor came in"),
        *(told(message, f"poison-{turn}-{n}") for n, message in enumerate(MESSAGES)),
    ]
    sound = [
        sensed(ADA, f"sound-{turn}-{n}", f"a visitor with {n} apples came in")
        for n in range(len(poisoned))
    ]
    return [each for pair in zip(poisoned, sound, strict=True) for each in pair]


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A mind that raises at every input whose id says so."""
    real = intake.refusal

    def refusal(state: Any, taken: Any, settings: Any) -> Any:
        if taken.id.startswith("poison"):
            raise SystemExit(2)
        return real(state, taken, settings)

    with monkeypatch.context() as patch:
        patch.setattr(intake, "refusal", refusal)
        yield patch


async def test_no_input_stops_two_workers_or_a_restart(
    broker: Broker, poison: pytest.MonkeyPatch
) -> None:
    """All are answered once; worker, recovery, read models and replay agree on it."""
    async with (
        opened(broker.server) as other,
        working(broker.reader, broker.writer, started()),
        working(other.reader, other.writer, started()),
    ):
        sequences = await publish(broker.writer, inputs(1))
        await answer(broker.reader, PARTITION, sequences[-1], PATIENCE_S)
    async with working(broker.reader, broker.writer, started()) as worker:
        sequences = await publish(broker.writer, inputs(2))
        await answer(broker.reader, PARTITION, sequences[-1], PATIENCE_S)
        await until(lambda: worker.state_of(ADA) is not None, "it is adopted")

    assert (await audit(broker.reader)).sound
    for group in await all_groups(broker.reader, ADA):
        notes = [read_output(each).message for each in group.outputs]
        is_poisoned = read_input(group.input).id.startswith("poison")
        first = notes[0]
        assert (
            isinstance(first, Quarantined) and first.reason == "error"
        ) is is_poisoned
        if isinstance(first, Quarantined):
            assert first.detail == "SystemExit in handlers.mind.handle.handle"

    library = bringer(broker.reader)
    whole = await Recovery(broker.reader, library, None, "").recover(PARTITION)
    folding = Folding(broker.reader, library)
    async for _ in folding.advance(PARTITION):
        pass
    # The projector folds no chain: no row holds one.
    agents = {
        name: replace(agent, chain="") for name, agent in whole.state.agents.items()
    }
    unchained = replace(whole.state, agents=Map(agents))
    assert codec.dump(folding._state(PARTITION)) == codec.dump(unchained)

    again = await verify(broker.reader, Span(PARTITION), library)
    poison.undo()
    mended = await verify(broker.reader, Span(PARTITION), library)
    assert again.is_identical
    assert again.chains == ((ADA, whole.state.agents[ADA].chain),)
    assert mended.divergence is not None
    assert mended.divergence.what == "mended"


async def test_who_calls_hears_that_the_input_raised(
    broker: Broker, poison: pytest.MonkeyPatch
) -> None:
    """A call is not left waiting: its answer is the note that kept it apart."""

    async def unknown(_: str) -> None:
        return None

    log = LiveLog(broker.client, broker.reader.epoch)
    services = Services(log, unknown, {})
    wire = told(ProfileSet(biases={}), "poison")
    given = read_input(factories.record(wire.subject, wire.body, headers=wire.headers))
    async with working(broker.reader, broker.writer, started()):
        reply = await services._submit(given)

    assert reply["answer"]["type"] == "quarantined"
    assert reply["answer"]["reason"] == "error"


class Choking:
    """An embedder that raises at one text."""

    def __init__(self) -> None:
        real = the_embedder()
        self.name, self.digest, self.exact = real.name, real.digest, real.exact
        self.limits, self.dimension = real.limits, real.dimension

    def embed(self, texts: list[str]) -> list[Vector]:
        """As the embedder does."""
        if any("poison" in text for text in texts):
            raise ValueError("cannot embed this")
        return list(the_embedder().embed(texts))


async def test_a_text_that_chokes_the_embedder_is_kept_apart(broker: Broker) -> None:
    """The others of its batch are decided on, and the log can be folded again."""
    embedder: Any = Choking()
    choking = AidProvider(embedder, PackLibrary(broker.reader, embedder))
    events = [sensed(ADA, str(n), f"apple {n}") for n in range(6)]
    events[3] = sensed(ADA, "3", "poison")
    sequences = await publish(broker.writer, events)
    async with working(broker.reader, broker.writer, started(), bringer=choking):
        await answer(broker.reader, PARTITION, sequences[-1], PATIENCE_S)

    found = await all_groups(broker.reader, ADA)
    kept = [group.outputs[0].subject.endswith(".quarantined") for group in found]
    assert kept == [False, False, False, True, False, False]
    whole = await Recovery(broker.reader, choking, None, "").recover(PARTITION)
    assert whole.state.position >= sequences[-1]


async def test_what_the_machine_lacks_is_waited_for(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory, a file, a pack's blob: the same inputs are answered once it is there."""
    lacking = iter([MemoryError(), OSError(28, "disk full"), MissingPackError("gone")])
    real = intake.refusal

    def refusal(state: Any, taken: Any, settings: Any) -> Any:
        for error in lacking:
            raise error
        return real(state, taken, settings)

    monkeypatch.setattr(intake, "refusal", refusal)
    blob = await broker.writer.put_blob(b"no pack at all")
    load = control(PackLoaded(name=PACK.name, pack_version="1", digest=blob), "load")
    async with working(broker.reader, broker.writer, started()):
        sequences = await publish(broker.writer, [load, sensed(ADA, "1", "a visitor")])
        await answer(broker.reader, PARTITION, sequences[-1], PATIENCE_S)

    found = await all_groups(broker.reader, ADA)
    assert [group.outputs[0].subject.split(".")[-1] for group in found] == [
        "control_refused",
        "decided",
    ]
    assert (await audit(broker.reader)).sound


async def test_an_observer_that_raises_stops_nothing(broker: Broker) -> None:
    """Who watches the worker has no part in the answers."""

    def observe(_: object) -> None:
        raise KeyError("spans")

    listeners = Listeners(answered=observe)
    async with working(broker.reader, broker.writer, started(), listeners=listeners):
        for number in range(2):
            wire = sensed(ADA, str(number), "a visitor")
            sequences = await publish(broker.writer, [wire])
            await answer(broker.reader, PARTITION, sequences[-1], PATIENCE_S)

    assert (await audit(broker.reader)).sound
