"""The shipped recordings played live, and every span that a collector got of it held against
what the log says: none is missing, none is too many, and their times are the log's."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from echoic.client.instance_note import read_note
from schemas.messages.results import Result
from schemas.values.ids import trace_id
from schemas.values.record import nanoseconds
from streams.jetstream.accounts import Credentials
from streams.jetstream.connection import reading
from streams.jetstream.sealed_log import open_reader
from tests.echoic.cli.conftest import SURVIVAL, Program
from tests.echoic.tracing.collectors import Received, Rotel, wait_until
from tests.echoic.tracing.log_facts import Answer, Facts, LogFacts
from tests.minds import all_groups
from tests.model_server import model_server

pytest.importorskip("rotel")
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

RECORDINGS = sorted((SURVIVAL / "recording").glob("*.echoic"))
WORDS = {"response": "Mind the step.", "predicted_success": 0.9, "confidence": 0.6}
NEAR_NS = 1_000
"""Spans end a microsecond early, for the sake of Jaeger's critical path."""
WAIT_NS = 1_000_000
"""Less than that is no wait."""


@dataclass(frozen=True, slots=True)
class Played:
    """What the log says, and what the collector got."""

    log: LogFacts
    spans: list[Received]
    traces: dict[str, list[Received]]

    def of(self, decided: Facts) -> dict[str, list[Received]]:
        """The spans of a decision's trace by the first word of their names."""
        found = defaultdict(list)
        for span in self.traces[trace_id(decided.decided.event_id)]:
            found[span.name.split()[0]].append(span)
        return found


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    """Every shipped recording, played to an agent of its own beside a model's double."""
    with TemporaryDirectory(prefix="echoic-live-") as folder, model_server() as model:
        model.text = json.dumps(WORDS)
        program, collector = Program(Path(folder)), Rotel(Path(folder))
        settings = {
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.http}",
            "ECHOIC_TRACE_SILENT": "all",
            "ECHOIC_MODEL_NAME": "openai/double",
            "ECHOIC_MODEL_API_BASE": model.base,
            "ECHOIC_MODEL_API_KEY": "none",
        }
        started = program("up", "--detach", "--pack", str(SURVIVAL), **settings)
        assert started.code == 0, started.err
        try:
            log = _play(program)
            spoken = [each for each in log.decisions.values() if _is_spoken(each)]
            wait_until(lambda: collector.text().count(": projection") >= len(spoken))
        finally:
            program("down")
            spans = collector.spans()
            collector.stop()
        traces = defaultdict(list)
        for span in spans:
            traces[span.trace_id].append(span)
        yield Played(log, spans, traces)


def test_every_trace_has_the_spans_that_the_log_says(played: Played) -> None:
    """One trace a decision, one a vote, and in each what was done for it, no more."""
    expected = {
        trace_id(each.decided.event_id): _names(each)
        for each in played.log.decisions.values()
    }
    for vote in played.log.votes:
        expected[trace_id(vote.id)] = Counter({"feedback": 1, "learn": vote.learnt})
    found = {
        id_: Counter(span.name for span in spans if span.name != "wait")
        for id_, spans in played.traces.items()
    }

    assert found == expected
    assert len(found) > 500
    assert len({span.id for span in played.spans}) == len(played.spans)


def test_a_decision_takes_from_its_event_to_its_last_answer(played: Played) -> None:
    """The broker's times bound it, and its steps follow one another without a gap."""
    for each in played.log.decisions.values():
        spans = played.of(each)
        (root,) = spans[each.decided.type]
        (queue,), (decide,), (commit,) = (
            spans[name] for name in ("queue", "decide", "commit")
        )
        ends = [_period(answer)[1] for answer in each.answers]
        ends += [span.end_ns for span in spans["complete"]]

        assert root.start_ns == queue.start_ns == each.arrived_ns
        assert _near(queue.end_ns, decide.start_ns)
        assert decide.end_ns <= each.written_ns <= commit.end_ns + NEAR_NS
        assert _near(decide.end_ns, commit.start_ns)
        assert _near(root.end_ns, max(commit.end_ns, *ends, 0))


def test_a_later_end_is_shown_when_it_came(played: Played) -> None:
    """From the broker's time of what ended it to the write of the end."""
    later = [each for each in played.log.decisions.values() if each.ended_ns]
    for each in later:
        (complete,) = played.of(each)["complete"]
        assert each.ended_ns is not None

        assert complete.start_ns == each.ended_ns[0]
        assert complete.end_ns + NEAR_NS >= each.ended_ns[1]
    assert later


def test_the_stages_follow_one_another_within_the_decision(played: Played) -> None:
    """Each has a time of its own: none was left untimed."""
    for each in played.log.decisions.values():
        spans = played.of(each)
        (decide,) = spans["decide"]
        stages = [
            span
            for name in ("salience", "gate", "match", "choose", "messages")
            for span in spans[name]
        ]

        assert decide.start_ns <= stages[0].start_ns
        assert stages[-1].end_ns <= decide.end_ns
        assert all(a.end_ns <= b.start_ns for a, b in pairwise(stages))
        assert all("echoic.stage.timed" not in stage.attributes for stage in stages)
        assert {stage.parent for stage in stages} == {decide.id}


def test_calls_and_deliveries_have_their_own_times(played: Played) -> None:
    """They begin and end when the log says; from the ask to that is a wait, if worth it."""
    answered = 0
    for each in played.log.decisions.values():
        spans = played.of(each)
        steps = sorted(spans["chat"] + spans["publish"], key=lambda it: it.start_ns)
        answers = sorted(each.answers, key=lambda it: _period(it)[0])
        committed_ns = spans["commit"][0].end_ns
        answered += len(answers)

        for answer, step in zip(answers, steps, strict=True):
            start_ns, end_ns = _period(answer)
            assert step.start_ns == start_ns
            assert _near(step.end_ns, end_ns)
            waits = [it for it in spans["wait"] if _near(it.end_ns, start_ns)]
            assert all(answer.ask.written_ns <= it.start_ns for it in waits)
            if answer.ask.written_ns <= committed_ns:
                asked_ns = waits[0].start_ns if waits else committed_ns
                assert _near(asked_ns, committed_ns)
                assert bool(waits) == (start_ns - committed_ns - NEAR_NS >= WAIT_NS)
        assert len(spans["wait"]) <= len(answers)
    assert answered > 50


def test_read_models_have_what_was_spoken_behind_the_log(played: Played) -> None:
    """Their span begins when the broker had the decision."""
    for each in filter(_is_spoken, played.log.decisions.values()):
        spans = played.of(each)
        (process,), (projection,) = spans["process"], spans["projection"]

        assert projection.parent == process.id
        assert projection.start_ns == each.written_ns < projection.end_ns


def test_every_decision_is_found_by_its_tags(played: Played) -> None:
    """A search by agent, heuristic, path, outcome and reason finds those the log has."""
    searches = defaultdict(set)
    for each in played.log.decisions.values():
        searches[tuple(each.tags.items())].add(each.id)
    kinds = {(tags["echoic.decision.path"], tags["echoic.decision.outcome"])
             for tags in map(dict, searches)}  # fmt: skip

    assert kinds >= {
        *(("heuristic", "spoke"), ("llm", "spoke"), ("llm", "dropped")),
        ("none", "silent"),
    }
    for tags, decisions in searches.items():
        found = [
            span.attributes["echoic.decision.id"]
            for span in played.spans
            if all(span.attributes.get(name) == value for name, value in tags)
        ]
        assert sorted(found) == sorted(decisions), tags


def test_votes_and_outcomes_link_to_their_decision(played: Played) -> None:
    """Each link names a span that was sent: the decision's own."""
    decides = {
        span.attributes["echoic.decision.id"]: span.id
        for span in played.spans
        if span.name == "decide"
    }
    linked = [it for it in played.spans if it.name in ("feedback", "outcome")]

    assert len(linked) > len(played.log.votes) > 0
    for span in linked:
        assert span.links == [decides[span.attributes["echoic.decision.id"]]]
    for vote in played.log.votes:
        (root,) = (it for it in played.traces[trace_id(vote.id)] if not it.parent)
        assert root.start_ns == vote.arrived_ns


def test_jaeger_doubts_no_clock(played: Played) -> None:
    """All spans are of one host, and none but the projection's lies outside its parent.

    By Jaeger's clock skew adjuster, which moves or complains of spans of another host, and
    of spans without one: jaeger/internal/jptrace/adjuster/clockskew.go.
    """
    hosts = {span.resource["host.id"] for span in played.spans}
    by_id = {span.id: span for span in played.spans}

    assert len(hosts) == 1
    assert hosts != {""}
    for span in played.spans:
        parent = by_id[span.parent or span.id]
        assert parent.trace_id == span.trace_id
        assert parent.start_ns <= span.start_ns < span.end_ns
        assert span.end_ns <= parent.end_ns or span.name == "projection"


def _play(program: Program) -> LogFacts:
    """Play all recordings; what the log says once every ask has been answered."""
    for recording in RECORDINGS:
        agent = ("--agent", recording.stem)
        program.here("session", "start", "--clock", "event", *agent)
        ran = program.here("pub", "-f", str(recording), *agent)
        assert ran.code == 0, ran.err
    log = LogFacts()

    def is_answered() -> bool:
        nonlocal log
        log = asyncio.run(_log(program))
        return not log.unanswered

    wait_until(is_answered)
    return log


async def _log(program: Program) -> LogFacts:
    note = read_note(program.data)
    assert note is not None
    rights = Credentials(note.nats_url, note.nats_user, note.nats_password)
    found = LogFacts()
    async with reading(rights, "test") as client:
        log = await open_reader(client)
        for recording in RECORDINGS:
            for group in await all_groups(log, recording.stem):
                if f".in.{recording.stem}." in group.input.subject:
                    found.take(group)
    return found


def _names(each: Facts) -> Counter[str]:
    """The names of a decision's spans, by what the log says of it; waits aside."""
    decided = each.decided
    names = [decided.type, "process", "queue", "decide"]
    names += ["salience", "gate", "messages", "commit"]
    names += ["match", "choose"] if decided.candidates else []
    names += ["outcome"] * each.outcomes
    names += ["complete"] if each.ended_ns else []
    names += ["projection"] if _is_spoken(each) else []
    names += [_name(answer) for answer in each.answers]
    return Counter(names)


def _name(answer: Answer) -> str:
    ask = answer.ask.message
    return "chat double" if hasattr(ask, "model") else f"publish out.{ask.channel}"


def _is_spoken(each: Facts) -> bool:
    return each.decided.silence is None


def _period(answer: Answer) -> tuple[int, int]:
    """When it began and ended, as whoever did it measured; else from ask to answer."""
    result = answer.result
    assert isinstance(result, Result)
    if result.started_at is None or result.latency_ms is None:
        return answer.ask.written_ns, answer.arrived_ns
    start_ns = nanoseconds(result.started_at)
    return start_ns, start_ns + round(result.latency_ms * 1e6)


def _near(one_ns: int, other_ns: int) -> bool:
    return abs(one_ns - other_ns) <= NEAR_NS
