"""Spans on their way out: to a real receiver, to none, and to one that hangs."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from echoic.tracing import export
from echoic.tracing.destinations import Spool, endpoint
from echoic.tracing.export import Tracer, open_tracer
from handlers.mind.turn import Turn
from schemas.messages.results import Delivered
from schemas.state.agent import PartitionState
from tests.echoic.tracing import samples

DEADLINE_S = 10.0


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(done: Callable[[], bool]) -> None:
    """Poll a condition until it holds or the deadline is over."""
    pause = threading.Event()
    end = time.monotonic() + DEADLINE_S
    while not done():
        assert time.monotonic() < end, "the condition did not come to hold"
        pause.wait(0.02)


class Receiver:
    """A real OTLP receiver with its database."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.database = folder / "received.db"
        self._process = subprocess.Popen(
            [str(Path(sys.executable).with_name("tv")), "serve"],
            env={
                **os.environ,
                "TV_PORT": str(self.port),
                "TV_DB_PATH": str(self.database),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._listens)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """The answer of its database."""
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def kill(self) -> None:
        """End it without warning."""
        self._process.kill()
        self._process.wait()

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    """A receiver that runs for one test."""
    running = Receiver(tmp_path)
    yield running
    running.kill()


@pytest.fixture
def notices() -> list[str]:
    """What the operator was told."""
    return []


def a_tracer(
    port: int, tmp_path: Path, notices: list[str], protocol: str = "http/protobuf"
) -> Tracer:
    """A tracer to a collector at `port`."""
    tracer = open_tracer(
        f"http://127.0.0.1:{port}",
        {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol},
        spool=tmp_path / "traces.otlp.jsonl",
        notify=notices.append,
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
    """The names of the spans in the file."""
    lines = (tmp_path / "traces.otlp.jsonl").read_text().splitlines()
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
    protocol: str, receiver: Receiver, tmp_path: Path, notices: list[str]
) -> None:
    """A decision arrives as one tree, with its tags, and nothing is spooled."""
    tracer = a_tracer(receiver.port, tmp_path, notices, protocol)
    trace_something(tracer)
    tracer.close()

    count = (
        "select count(*) from spans where id not like '%event%'"
        f" and trace_id = '{samples.TRACE_ID}'"
    )
    wait_until(lambda: receiver.rows(count) == [(10,)])
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

    assert time.monotonic() - before < 1.0
    assert len(notices) == 1
    assert "no trace collector" in notices[0]
    assert str(tmp_path) in notices[0]
    assert spooled(tmp_path).count("decide") == 3
    assert (tmp_path / "traces.otlp.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.services
def test_a_collector_that_dies_is_not_asked_again_and_again(
    receiver: Receiver, tmp_path: Path, notices: list[str]
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


def test_a_collector_that_hangs_does_not_hold_up_the_end(
    tmp_path: Path, notices: list[str]
) -> None:
    """A collector that takes a connection and never answers is broken off."""
    with socket.create_server(("127.0.0.1", 0)) as silent_server:
        tracer = a_tracer(silent_server.getsockname()[1], tmp_path, notices)
        trace_something(tracer)
        before = time.monotonic()
        tracer.close()

        assert time.monotonic() - before < 1.0
    assert "decide" in spooled(tmp_path)


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


def test_the_endpoint_is_read_as_open_telemetry_says() -> None:
    """The traces' own variable wins, headers are unquoted, the path is added."""
    plain = endpoint("http://127.0.0.1:4318/", {})
    named = endpoint(
        "http://a:1",
        {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://b:2/x",
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20t,n=1",
        },
    )

    assert (plain.url, plain.is_loopback) == ("http://127.0.0.1:4318/v1/traces", True)
    assert (named.url, named.is_loopback) == ("https://b:2/x", False)
    assert named.headers == (("authorization", "Bearer t"), ("n", "1"))
    assert endpoint(None, {}).url == "http://127.0.0.1:4318/v1/traces"


def test_a_wrong_endpoint_is_named() -> None:
    """The error shows the value and what would be right."""
    with pytest.raises(ValueError, match=r"'collector:4318/v1/traces'.*http://"):
        endpoint("collector:4318", {})
