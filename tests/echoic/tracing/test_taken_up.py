"""What was open when a program was killed is traced whole by the one that comes after."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from immutables import Map
from msgspec.structs import replace

from echoic.tracing import export
from echoic.tracing.export import spans_of, unfinished
from echoic.tracing.naming import Held
from echoic.tracing.observe import Answered, Observer
from echoic.tracing.spans import DecisionTrace, SpanData
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording, from_file
from schemas.messages.decisions import Decided
from schemas.messages.results import ModelAnswered
from schemas.state.agent import AgentState, PartitionState, Pending
from streams.log import ReadableLog, Records
from tests.echoic.tracing import samples
from tests.factories import NOON

EXPLORED = (
    Path(__file__).parents[3] / "packs" / "survival" / "recording" / "explored.echoic"
)
KILLS = 5
ANSWER = ModelAnswered(ask_id="ask", request_hash="beef", model="tiny", text="A lake.")
PENDING = Pending(
    ask_id="ask",
    decision_id="d1",
    event_id="e1",
    expires_at=NOON,
    channel="say",
    response_type="suggestion",
    urgency=0.5,
    priority=0.5,
    matched_heuristic_id=None,
)


class Cut:
    """A log as it was when its last message was the one at `end`."""

    def __init__(self, log: ReadableLog, end: int) -> None:
        self.log, self.end = log, end
        self.epoch, self.blob, self.read = log.epoch, log.blob, 0

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return what had come of a page."""
        found = await self.log.page(subjects, after, limit)
        self.read += len(found)
        return tuple(each for each in found if each.sequence <= self.end)

    def __getattr__(self, name: str) -> object:
        return getattr(self.log, name)


@pytest.fixture(scope="module")
def recording() -> Recording:
    """A session in which a model is asked, answers, and is late."""
    return from_file(EXPLORED)


async def seen_in(recording: Recording) -> list[Answered]:
    """Its groups, as an observer is given them."""
    return [
        Answered.of_log(each.input, tuple(each.outputs()), each.written_ns)
        async for each in recorded_groups(recording)
    ]


def sent(observer: Observer, seen: Iterable[Answered]) -> list[SpanData]:
    """What an observer sends of them."""
    return [
        span
        for each in seen
        for trace in observer.answered(each)
        for span in spans_of(trace)
    ]


def held(last: Answered, waiting: Iterable[str] = ()) -> Held:
    """What the mind holds after a group: which decisions wait for a model."""
    pending = {id_: replace(PENDING, decision_id=id_) for id_ in waiting}
    agent = AgentState(pending=Map(pending))
    agents = Map({last.input.agent: agent})
    return Held(PartitionState(position=last.input.sequence, agents=agents), {})


async def test_what_a_kill_cut_off_is_sent_whole_and_once(recording: Recording) -> None:
    """Killed between a decision and its answer, at five places: both together send what an
    uninterrupted program does, with the same ids, and no span lacks its parent."""
    seen = await seen_in(recording)
    whole = sent(Observer(), seen)
    opened = [
        place
        for place, each in enumerate(seen, 1)
        if any(isinstance(o.message, Decided) and not o.message.final for o in each.outputs)
    ]  # fmt: skip
    for place in opened[:: len(opened) // KILLS]:
        before, last = seen[:place], seen[place - 1]
        killed = sent(Observer(), before)
        log = Cut(recording.log, last.outputs[-1].record.sequence)
        after = Observer()
        after.take_up(
            await unfinished(after, log, recording.partition, held(last)),  # type: ignore[arg-type]
            last.times.committed_ns,
        )
        spans = killed + sent(after, seen[place:])

        assert sorted(map(repr, spans)) == sorted(map(repr, whole))
    known = {(span.trace_id, span.span_id) for span in whole}
    assert {(each.trace_id, each.parent or each.span_id) for each in whole} <= known


async def test_a_start_reads_back_to_what_waits_and_no_further(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits: a short look. Something does: back to its beginning, within a limit."""
    seen = await seen_in(recording)
    last, first = seen[-1], next(
        o.id for each in seen for o in each.outputs if isinstance(o.message, Decided)
    )  # fmt: skip
    log = Cut(recording.log, last.outputs[-1].record.sequence)

    async def read(waiting: list[str]) -> int:
        log.read = 0
        await unfinished(Observer(), log, recording.partition, held(last, waiting))  # type: ignore[arg-type]
        return log.read

    monkeypatch.setattr(export, "BACK_MAX", 64 * 64)
    short, far = await read([]), await read([first])
    monkeypatch.setattr(export, "BACK_MAX", 64 * 4)

    assert 0 < short < far
    assert await read(["of-an-older-log"]) <= 64 * 4 * 2


async def test_what_is_known_already_is_not_taken_up_again(
    recording: Recording,
) -> None:
    """After an error of the broker a partition is folded anew, and what is held stays."""
    observer = Observer()
    seen = samples.sensed(
        ("d1", samples.deferred()), ("ask", samples.model_asked("d1"))
    )
    list(observer.answered(seen))
    earlier = observer.again()
    list(earlier.answered(seen))
    observer.take_up(earlier, 0)

    ended = samples.result(ANSWER, ("c1", samples.completed("d1")), ms=800)
    (trace,) = observer.answered(ended)
    observer.take_up(earlier, 0)

    assert isinstance(trace, DecisionTrace)
    assert list(observer.rest()) == []
