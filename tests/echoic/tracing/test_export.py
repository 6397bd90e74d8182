"""Spans on their way out: to a real receiver, to none, and to one that hangs."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from echoic.tracing import export, resend
from echoic.tracing.destinations import Spool
from echoic.tracing.export import Tracer, open_tracer
from echoic.tracing.sampling import Sampling
from handlers.mind.turn import Turn
from schemas.messages.results import Delivered
from schemas.state.agent import PartitionState
from tests.echoic.tracing import collectors, samples
from tests.echoic.tracing.collectors import TraceView, wait_until
from tests.ports import free_port

WITHOUT_DRAW = Sampling(ratio=0.0)
LONG_S = 8.0
"""An end waits .9 s for what is on its way; who waited for a collector would take 10 s."""
"""Of a burst of silence only what the rate allows."""


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[TraceView]:
    """A receiver that runs for one test."""
    running = TraceView(tmp_path)
    yield running
    running.kill()


@pytest.fixture
def notices() -> list[str]:
    """What the operator was told."""
    return []


def a_tracer(
    port: int,
    tmp_path: Path,
    notices: list[str],
    protocol: str = "http/protobuf",
    sampling: Sampling = WITHOUT_DRAW,
) -> Tracer:
    """A tracer to a collector at `port`."""
    tracer = open_tracer(
        f"http://127.0.0.1:{port}",
        {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol},
        spool=tmp_path / "traces.otlp.jsonl",
        notify=notices.append,
        sampling=sampling,
    )
    assert tracer is not None
    return tracer


def trace_something(tracer: Tracer) -> None:
    """Hand over a decision with its delivery, and a vote."""
    group = (("d1", samples.decided()), ("ask-out", samples.delivery_asked("d1")))
    delivered = Delivered(ask_id="ask-out", channel="console")
    for seen in (
        samples.sensed(*group),
        samples.result(delivered, ms=20),
        samples.feedback("d1"),
    ):
        tracer.answered(seen)


def spooled(tmp_path: Path) -> list[str]:
    """The names of the spans in the file, none before it is there."""
    file = tmp_path / "traces.otlp.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [
        span["name"]
        for line in lines
        for group in json.loads(line)["resourceSpans"]
        for scope in group["scopeSpans"]
        for span in scope["spans"]
    ]


@pytest.mark.services
@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_a_real_receiver_gets_every_span(
    protocol: str, receiver: TraceView, tmp_path: Path, notices: list[str]
) -> None:
    """A decision arrives as one tree, with its tags, and nothing is spooled."""
    tracer = a_tracer(receiver.port, tmp_path, notices, protocol)
    trace_something(tracer)

    count = (
        "select count(*) from spans where id not like '%event%'"
        f" and trace_id = '{samples.TRACE_ID}'"
    )
    wait_until(lambda: receiver.rows(count) == [(11,)])
    tracer.close()
    roots = receiver.rows(
        f"select id from spans where trace_id = '{samples.TRACE_ID}'"
        " and parent_span_id is null"
    )
    tags = receiver.rows(
        "select json_extract(metadata, '$.\"echoic.decision.path\"'),"
        " json_extract(metadata, '$.\"echoic.agent.id\"'),"
        " json_extract(metadata, '$.\"echoic.salience.band\"'),"
        " json_extract(metadata, '$.\"service.name\"')"
        " from spans where json_extract(metadata, '$.\"echoic.summary\"') is not null"
    )
    votes = receiver.rows(
        "select count(*) from spans where"
        " json_extract(metadata, '$.\"gen_ai.evaluation.score.label\"') = 'thumbs_down'"
    )

    assert len(roots) == 1
    assert tags == [("heuristic", "mia", "high", "echoic")]
    assert votes == [(1,)]
    assert (notices, tracer.dropped) == ([], 0)
    assert not (tmp_path / "traces.otlp.jsonl").exists()


def test_the_workers_turns_are_traced(tmp_path: Path, notices: list[str]) -> None:
    """What the worker tells whoever watches it is all that a trace needs."""
    seen = samples.sensed(("d1", samples.decided()))
    tracer = a_tracer(free_port(), tmp_path, notices)
    tracer.observe([(Turn(seen.input, seen.outputs, PartitionState()), seen.times)])
    tracer.close()

    assert "decide" in spooled(tmp_path)


def test_without_a_collector_traces_go_to_a_file(
    tmp_path: Path, notices: list[str]
) -> None:
    """There is one notice, the spans are in the file, and the end is quick."""
    tracer = a_tracer(free_port(), tmp_path, notices)
    for _ in range(3):
        trace_something(tracer)
    before = time.monotonic()
    tracer.close()

    assert time.monotonic() - before < LONG_S
    assert len(notices) == 1
    assert "no trace collector" in notices[0]
    assert str(tmp_path) in notices[0]
    assert spooled(tmp_path).count("decide") == 3
    assert (tmp_path / "traces.otlp.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.services
def test_a_collector_that_dies_is_not_asked_again_and_again(
    receiver: TraceView, tmp_path: Path, notices: list[str]
) -> None:
    """What it did not take is in the file, after one notice."""
    tracer = a_tracer(receiver.port, tmp_path, notices)
    trace_something(tracer)
    wait_until(lambda: receiver.rows("select count(*) from spans") != [(0,)])
    receiver.kill()
    for _ in range(3):
        trace_something(tracer)
    tracer.close()

    assert len(notices) == 1
    assert spooled(tmp_path).count("decide") == 3


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
@pytest.mark.parametrize("bad", [collectors.hanging, collectors.refusing])
def test_a_bad_collector_does_not_hold_up_the_end(
    bad: Callable[[], AbstractContextManager[int]],
    protocol: str,
    tmp_path: Path,
    notices: list[str],
) -> None:
    """One that never answers, or refuses, is given up, and its spans are in the file."""
    with bad() as port:
        tracer = a_tracer(port, tmp_path, notices, protocol)
        trace_something(tracer)
        before = time.monotonic()
        tracer.close()

        assert time.monotonic() - before < LONG_S
    wait_until(lambda: "decide" in spooled(tmp_path))
    assert len(notices) == 1


def test_the_queue_is_bounded(
    tmp_path: Path, notices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not fit is dropped and counted; handing over never waits."""
    monkeypatch.setattr(export, "QUEUE_MAX", 0)
    tracer = a_tracer(free_port(), tmp_path, notices)
    trace_something(tracer)
    tracer.close()

    assert tracer.dropped == 3


def test_silence_is_thinned_out(tmp_path: Path, notices: list[str]) -> None:
    """In a burst some silent decisions are left out and counted; spoken ones never."""
    tracer = a_tracer(free_port(), tmp_path, notices)
    for number in range(100):
        seen = samples.sensed((f"s{number}", samples.silent()))
        tracer.answered(seen)
        seen = samples.sensed((f"d{number}", samples.decided()))
        tracer.answered(seen)
    tracer.close()

    assert tracer.thinned == 80
    assert spooled(tmp_path).count("decide") == 120


def test_a_vote_on_silence_links_to_it(tmp_path: Path, notices: list[str]) -> None:
    """Silent decisions wait apart, and are traced in their order all the same."""
    tracer = a_tracer(free_port(), tmp_path, notices)
    tracer.answered(samples.sensed(("s1", samples.silent())))
    tracer.answered(samples.feedback("s1"))
    tracer.close()

    spans = resend.spans_of(Spool(tmp_path / "traces.otlp.jsonl"), samples.TRACE_ID)
    decide = next(each.span_id for each in spans if each.name == "decide")
    assert (
        f'"links":[{{"traceId":"{samples.TRACE_ID}","spanId":"{decide}"'
        in (tmp_path / "traces.otlp.jsonl").read_text()
    )


def test_an_unwritable_file_loses_traces_and_nothing_else(
    tmp_path: Path, notices: list[str]
) -> None:
    """Without collector and file the spans are counted as dropped."""
    (tmp_path / "traces.otlp.jsonl").mkdir()
    tracer = a_tracer(free_port(), tmp_path, notices)
    trace_something(tracer)
    tracer.close()

    assert tracer.dropped > 0


def test_the_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full file is put aside, and one before it is forgotten."""
    monkeypatch.setattr("echoic.tracing.destinations.SPOOL_BYTES_MAX", 10)
    spool = Spool(tmp_path / "t.jsonl")
    for _ in range(3):
        spool.send({"service.name": "x"}, [])

    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.jsonl.1"]


@pytest.mark.parametrize(
    "environment", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}]
)
def test_tracing_can_be_switched_off(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """OpenTelemetry's own switches work."""
    assert open_tracer(None, environment, spool=tmp_path, notify=print) is None


def test_an_exporter_that_cannot_be_made_loses_nothing(
    tmp_path: Path, notices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The traces are in the file, and the notice says what is wrong."""
    variable = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER"
    monkeypatch.setenv(variable, "nobody")
    with collectors.hanging() as port:
        tracer = a_tracer(port, tmp_path, notices)
        trace_something(tracer)
        tracer.close()

    assert len(notices) == 1
    assert "nobody" in notices[0]
    assert "decide" in spooled(tmp_path)


LOADED = """
import sys
from pathlib import Path
from echoic.tracing.export import open_tracer

base, spool = sys.argv[1], Path(sys.argv[2])
for exporter in ("none", "otlp"):
    variables = {"OTEL_TRACES_EXPORTER": exporter}
    tracer = open_tracer(base, variables, spool=spool, notify=lambda _: None)
    if tracer is not None:
        tracer.close()
    wanted = ("opentelemetry", "opentelemetry.exporter", "google.protobuf", "requests")
    print([name for name in wanted if name in sys.modules])
"""
"""Opens no tracer, then one without a collector, and tells what was loaded."""


def test_the_exporter_is_loaded_for_a_collector_alone(tmp_path: Path) -> None:
    """Nothing of it where nothing is traced; where traces go to a file, the resource."""
    given = [f"http://127.0.0.1:{free_port()}", str(tmp_path / "t.jsonl")]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *given],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.splitlines() == ["[]", "['opentelemetry']"]


def test_where_there_is_no_room_silence_goes_first(
    tmp_path: Path, notices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said takes the place of silence; both that were left out are counted."""
    monkeypatch.setattr(export, "QUEUE_MAX", 4)
    # The thread is not to empty the queue meanwhile.
    monkeypatch.setattr(export.Tracer, "_run", lambda _: None)
    tracer = a_tracer(free_port(), tmp_path, notices, sampling=Sampling("all"))
    for number in range(3):
        tracer.answered(samples.sensed((f"s{number}", samples.silent())))
    for number in range(5):
        tracer.answered(samples.sensed((f"d{number}", samples.decided())))
    tracer.answered(samples.sensed(("s4", samples.silent())))

    assert (tracer.dropped, tracer.dropped_silent) == (1, 4)
    tracer.close()
    assert (tracer.dropped, tracer.dropped_silent) == (5, 4)
