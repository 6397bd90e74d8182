"""A shipped recording as traces: as it was, and as other strategies decide it."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from echoic.client.recordings import FileSource
from echoic.client.replay_traces import Wanted, chosen_of, trace_all
from echoic.embedders import embedder
from echoic.tracing import conventions as names
from echoic.tracing.export import spans_of
from echoic.tracing.observe import Trace
from echoic.tracing.recorded import recorded_traces, replayed_trace
from echoic.tracing.run import Run
from echoic.tracing.spans import GAP_NS, Attributes, DecisionTrace, SpanData
from evaluation.compare.session import Plan, SessionResult, compared
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.strategies import spec
from replay.closed_loop.history import history_of
from replay.closed_loop.once import DecidedOnce, decided_once
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording, from_file
from schemas.codec.envelope import Output
from schemas.messages.decisions import Decided
from schemas.messages.experiments import Variant
from schemas.messages.learning import OutcomeObserved
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
)
from schemas.values.ids import trace_id

RECORDINGS = Path(__file__).parents[3] / "packs" / "survival" / "recording"
EVENING = RECORDINGS / "evening.echoic"
DARING = Variant(strategy=spec.parse("heuristic_first:threshold=0.5"))
JAEGER = "http://127.0.0.1:16686"
RUN = Run("replay-1", "daring", JAEGER)


@pytest.fixture(scope="module")
def evening() -> Recording:
    """The shipped session."""
    return from_file(EVENING)


@pytest.fixture(scope="module")
def outputs(evening: Recording) -> list[Output]:
    """All that the mind said in it."""

    async def read() -> list[Output]:
        return [
            out async for each in recorded_groups(evening) for out in each.outputs()
        ]

    return asyncio.run(read())


@pytest.fixture(scope="module")
def recorded(evening: Recording) -> list[Trace]:
    """The traces of the recording itself."""
    return asyncio.run(_all_recorded(evening))


@pytest.fixture(scope="module")
def daring(evening: Recording, outputs: list[Output]) -> list[DecidedOnce]:
    """Every decision of it, under a lower threshold."""
    decisions = [each.id for each in outputs if isinstance(each.message, Decided)]
    return asyncio.run(_again(evening, DARING, decisions))


def test_a_recording_has_the_spans_that_its_log_says(
    evening: Recording, outputs: list[Output], recorded: list[Trace]
) -> None:
    """One trace a decision; in it what was decided, outcomes, calls and deliveries."""
    found = Counter(_kind(span) for trace in recorded for span in spans_of(trace))
    said = [each.message for each in outputs]
    decided = [each for each in said if isinstance(each, Decided)]
    results = asyncio.run(_results(evening))

    for name in ("event", "process", "queue", "decide", "commit"):
        assert found[name] == len(decided) > 0
    assert found["outcome"] == sum(isinstance(each, OutcomeObserved) for each in said)
    assert found["publish"] == results[Delivered] + results[DeliveryFailed] > 0
    assert found["chat"] == results[ModelAnswered] + results[ModelFailed]


def test_a_recorded_trace_is_the_one_that_live_tracing_makes(
    outputs: list[Output], recorded: list[Trace]
) -> None:
    """Its id is the event's, and its times are those of the log."""
    written = {each.mark.cause_sequence: each.record.time_ns for each in outputs}
    times = {each.id: written[each.mark.cause_sequence] for each in outputs}
    decisions = [each for each in recorded if isinstance(each, DecisionTrace)]
    for trace in decisions:
        root, _, _, decide, *stages = spans_of(trace)
        (commit,) = [span for span in stages if span.name == names.COMMIT]

        assert root.trace_id == trace_id(trace.event_id)
        assert decide.end_ns < commit.end_ns <= times[trace.decision_id]
        assert commit.end_ns >= times[trace.decision_id] - GAP_NS
        assert root.start_ns == trace.received_ns < decide.start_ns
        assert decide.attributes[names.RUN_ID] == "live"
        assert decide.attributes[names.PACK_VERSION] != names.NONE
        assert names.REPLAY not in decide.attributes


def test_traces_of_both_hold_the_rules_of_jaeger(
    recorded: list[Trace], daring: list[DecidedOnce]
) -> None:
    """Ids are unique, parents and links are found, names known, children within."""
    replayed = [replayed_trace(each, RUN) for each in daring]
    spans = [span for trace in (*recorded, *replayed) for span in spans_of(trace)]
    traces: dict[str, dict[str, SpanData]] = defaultdict(dict)
    for span in spans:
        traces[span.trace_id][span.span_id] = span

    assert len({span.span_id for span in spans}) == len(spans)
    assert len(traces) == len(recorded) + len(replayed)
    for trace in traces.values():
        assert sum(span.parent is None for span in trace.values()) == 1
        for span in trace.values():
            parent = trace[span.parent or span.span_id]
            assert parent.start_ns <= span.start_ns < span.end_ns <= parent.end_ns
            assert span.service or names.SPAN_NAMES.fullmatch(span.name)
            for link in span.links:
                assert link.span_id in traces[link.trace_id]


def test_a_replayed_decision_says_so_and_links_to_the_recorded_one(
    daring: list[DecidedOnce], recorded: list[Trace]
) -> None:
    """Its tags name the run; link, tag and page all lead to the decision's own trace."""
    originals = _decides(recorded)
    for each in daring:
        trace = replayed_trace(each, RUN)
        decide = _decide(trace)
        original = originals[each.id]
        (link,) = [
            link
            for link in decide.links
            if link.attributes[names.LINK] == names.LINK_ORIGINAL
        ]

        assert (link.trace_id, link.span_id) == (original.trace_id, original.span_id)
        assert decide.attributes[names.REPLAY] is True
        assert decide.attributes[names.RUN_ID] == "replay-1"
        assert decide.attributes[names.RUN_VARIANT] == "daring"
        assert decide.attributes[names.ORIGINAL_TRACE_ID] == original.trace_id
        assert decide.attributes[names.COMPARE_URL] == (
            f"{JAEGER}/trace/{original.trace_id}...{decide.trace_id}"
        )


def test_where_both_decide_alike_their_traces_have_the_same_names(
    daring: list[DecidedOnce], recorded: list[Trace]
) -> None:
    """By names Jaeger compares; where they differ, what was said does."""
    paths = {
        each.decision_id: _paths(each)
        for each in recorded
        if isinstance(each, DecisionTrace)
    }
    originals = _decides(recorded)
    alike = [each for each in daring if each.is_recorded_arm]

    assert 0 < len(alike) < len(daring)
    for each in daring:
        trace = replayed_trace(each, RUN)
        if each.is_recorded_arm:
            assert _paths(trace) == paths[each.id]
        else:
            outcome = names.DECISION_OUTCOME
            was, now = originals[each.id].attributes, _decide(trace).attributes
            assert (was[outcome], now[outcome]) == ("silent", "spoke")
            assert _paths(trace) - paths[each.id] == Counter(
                {"event/process/publish out.say": 1}
            )


def test_heuristics_have_their_names(
    recorded: list[Trace], daring: list[DecidedOnce]
) -> None:
    """The packs of a recording say how a heuristic is called, in a replay too."""
    replayed = [replayed_trace(each, RUN) for each in daring]
    for decide in [*_decides(recorded).values(), *map(_decide, replayed)]:
        matched = decide.attributes[names.HEURISTIC_ID] != names.NONE
        assert matched == (names.HEURISTIC_NAME in decide.attributes)


def test_a_flip_to_the_model_shows_its_call() -> None:
    """What it would say may be unknown, but that it would be asked is not."""
    explored = from_file(RECORDINGS / "explored.echoic")
    decided = asyncio.run(_decided(explored))
    always = Variant(strategy=spec.parse("always_llm"))
    asked = asyncio.run(_again(explored, always, [each.id for each in decided]))
    flips = [each for each in asked if not each.is_recorded_arm]
    spans = [span for each in flips for span in spans_of(replayed_trace(each, RUN))]
    calls = [span for span in spans if span.name.startswith("chat ")]

    assert len(asked) == len(decided)
    assert len(calls) == len(flips) > 0
    assert all(call.end_ns > call.start_ns for call in calls)


def test_the_recorded_strategy_decides_alike(
    evening: Recording, outputs: list[Output]
) -> None:
    """Without exploration the agent's own takes the recorded arms."""
    decisions = [each.id for each in outputs if isinstance(each.message, Decided)]

    assert all(
        each.is_recorded_arm for each in asyncio.run(_again(evening, None, decisions))
    )


class Kept:
    """A destination that keeps what it gets."""

    def __init__(self) -> None:
        self.spans: list[SpanData] = []
        self.instances: set[object] = set()

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Keep a batch."""
        self.spans += spans
        self.instances.add(resource[names.SERVICE_INSTANCE_ID])


def test_flips_come_first_and_each_has_its_page(evening: Recording) -> None:
    """Sent again it is the same to the byte, so that Jaeger shows it once."""
    plan = Plan(baseline=Variant(), challengers=(DARING,))
    made = embedder("wordllama")
    provider = AidProvider(made, PackLibrary(evening.log, made))
    result = asyncio.run(compared(evening, provider, plan, lambda done, whole: None))
    flips = [flip.decision for flip in result.flips[0]]

    once, pages = _sent(result, plan, limit=len(flips) + 5)
    again, _ = _sent(result, plan, limit=len(flips) + 5)
    few = chosen_of(result, 0, 3)

    assert set(flips) < set(pages)
    assert len(pages) == len(flips) + 5
    assert all(page.startswith(f"{JAEGER}/trace/") for page in pages.values())
    assert once.spans == again.spans
    assert once.instances == again.instances
    assert few == frozenset(flips[:3])


def _sent(result: SessionResult, plan: Plan, limit: int) -> tuple[Kept, dict[str, str]]:
    kept = Kept()
    wanted = Wanted(
        destination=kept, jaeger=JAEGER, content=False, limit=limit, originals=True
    )
    source = FileSource(EVENING, "wordllama")
    (pages,) = asyncio.run(trace_all([source] * 2, [result], plan, ["daring"], wanted))
    return kept, pages


async def _all_recorded(recording: Recording) -> list[Trace]:
    return [each async for each in recorded_traces(recording)]


async def _decided(recording: Recording) -> list[Output]:
    return [
        output
        async for group in recorded_groups(recording)
        for output in group.outputs((Decided.token,))
    ]


async def _results(recording: Recording) -> Counter[type]:
    return Counter(
        [type(each.input.message) async for each in recorded_groups(recording)]
    )


async def _again(
    recording: Recording, strategy: Variant | None, wanted: list[str]
) -> list[DecidedOnce]:
    made = embedder("wordllama")
    provider = AidProvider(made, PackLibrary(recording.log, made))
    _, cassette = await history_of(recording, recording.first)
    return await decided_once(recording, strategy, provider, wanted, cassette)


def _decides(traces: list[Trace]) -> dict[str, SpanData]:
    """The `decide` span of each decision, by its id."""
    return {
        each.decision_id: _decide(each)
        for each in traces
        if isinstance(each, DecisionTrace)
    }


def _decide(trace: DecisionTrace) -> SpanData:
    return next(span for span in spans_of(trace) if span.name == names.DECIDE)


def _kind(span: SpanData) -> str:
    return "event" if span.service else span.name.split()[0]


def _paths(trace: DecisionTrace) -> Counter[str]:
    """The names of the spans from the root, as Jaeger's compare page takes them."""
    spans = {span.span_id: span for span in spans_of(trace)}

    def path(span: SpanData) -> str:
        above = spans.get(span.parent or "")
        return "event" if above is None else f"{path(above)}/{span.name}"

    return Counter(map(path, spans.values()))
