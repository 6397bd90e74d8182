"""`echoic trace` beside a running instance, and over what it left in its file."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from echoic.tracing.destinations import SPOOL, Spool
from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import SURVIVAL, Program
from tests.echoic.tracing.collectors import TraceView, dead, wait_until
from tests.echoic.tracing.test_encode import RESOURCE, SPAN

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def test_the_trace_of_a_decision_is_shown(live: Program) -> None:
    """A tree of spans with what the log knows of their times, and Jaeger's address."""
    found = thirsty(live, "traced", 3, "Your drink is low: 3 of 9.")
    id_ = found["response_id"]
    ran = live.here("trace", id_[:13], "--agent", "traced")
    as_json = live.here("trace", id_, "--agent", "traced", "--json").json
    last = live.here("trace", "--agent", "traced", "--json").json

    assert ran.code == 0, ran.err
    assert "crafter: vital_changed" in ran.out
    assert "the broker's times" in ran.out
    assert f"http://127.0.0.1:16686/trace/{as_json['trace_id']}" in ran.out
    assert as_json["measured"] is False
    spans = {span["name"]: span for span in as_json["spans"]}
    assert {"decide", "match", "gate"} <= spans.keys()
    root = spans["vital_changed"]
    assert root["timed"]
    assert root["duration_ns"] > 0
    assert not spans["decide"]["timed"]
    assert spans["decide"]["attributes"]["echoic.decision.id"] == id_
    assert last["decision_id"] == id_


def test_what_was_measured_is_shown_if_it_is_there(live: Program) -> None:
    """A trace that waits in the file is shown with the times of the worker's steps."""
    id_ = thirsty(live, "waits", 3, "Your drink is low: 3 of 9.")["response_id"]
    spool = Spool(live.data / SPOOL)
    trace_id = live.here("trace", id_, "--agent", "waits", "--json").json["trace_id"]
    spool.send(RESOURCE, [replace(SPAN, trace_id=trace_id)])
    ran = live.here("trace", id_, "--agent", "waits")
    spool.path.unlink()

    assert ran.code == 0, ran.err
    assert "took" in ran.out
    assert "the broker's times" not in ran.out
    assert "echoic trace send" in ran.err


def test_explain_names_the_link(live: Program) -> None:
    """Whoever asks why is told where the time went; `trace.ui` says where that is."""
    found = thirsty(live, "linked", 3, "Your drink is low: 3 of 9.")
    ui = {"ECHOIC_TRACE_UI": "https://jaeger.example/ui/"}
    ran = live.here("explain", found["response_id"], "--agent", "linked", **ui)
    as_json = live.here("explain", "--last", "--agent", "linked", "--json", **ui).json

    link = f"https://jaeger.example/ui/trace/{as_json['trace_id']}"
    assert link in ran.out
    assert as_json["trace_url"] == link


def test_an_unknown_decision_is_no_trace(live: Program) -> None:
    """As with `explain`, the exit code says that nothing was found."""
    assert live.here("trace", "0000", "--agent", "nobody").code == 1


def test_spooled_traces_are_copied(tmp_path: Path) -> None:
    """Each line of the copy is a request that Jaeger's page can open."""
    program = Program(tmp_path)
    Spool(program.data / SPOOL).send(RESOURCE, [SPAN])
    copy = tmp_path / "copy.jsonl"
    ran = program.here("trace", "export", str(copy), "--json")

    assert ran.json == {"v": 1, "file": str(copy), "traces": 1, "spans": 1}
    assert json.loads(copy.read_text())["resourceSpans"]


def test_nothing_to_copy_is_said(tmp_path: Path) -> None:
    """Without a file there is nothing to find."""
    assert Program(tmp_path).here("trace", "export", "x.jsonl").code == 1


def test_a_recorded_session_is_traced_without_an_instance(tmp_path: Path) -> None:
    """Each decision of the file has its trace; people's words are in none."""
    program = Program(tmp_path)
    copy = tmp_path / "evening.jsonl"
    evening = str(SURVIVAL / "recording" / "evening.echoic")
    ran = program.here("trace", "export", "--session", evening, str(copy), "--json")
    late = program.here(
        "trace", "export", "--session", evening, "--since", "1 minute ago", str(copy)
    )

    assert (ran.code, late.code) == (0, 1)
    lines = copy.read_text().splitlines()
    traces = re.findall(r'"traceId":"(\w+)"[^{]*"name":"decide"', copy.read_text())
    # Sessions and votes have traces of their own, in which nothing is decided.
    assert len(set(traces)) == len(traces) < ran.json["traces"]
    assert ran.json["spans"] > 5 * ran.json["traces"] > 1_000
    assert "echoic.heuristic.name" in lines[0]
    assert "echoic.event.text" not in copy.read_text()


def test_a_bad_recording_leaves_an_earlier_copy(tmp_path: Path) -> None:
    """What is no session's file is named, and nothing is overwritten."""
    copy = tmp_path / "copy.jsonl"
    copy.write_text("earlier")
    bad = tmp_path / "bad.echoic"
    bad.write_text("no session")
    ran = Program(tmp_path).here("trace", "export", "--session", str(bad), str(copy))

    assert ran.code == 2
    assert "bad.echoic" in ran.err
    assert [each.name for each in tmp_path.glob("copy*")] == ["copy.jsonl"]
    assert copy.read_text() == "earlier"


def test_a_recorded_session_is_sent(tmp_path: Path) -> None:
    """A collector gets as many spans as the file would hold."""
    receiver = TraceView(tmp_path)
    evening = str(SURVIVAL / "recording" / "evening.echoic")
    url = f"http://127.0.0.1:{receiver.port}"
    ran = Program(tmp_path).here(
        "trace", "send", "--session", evening, "--json", OTEL_EXPORTER_OTLP_ENDPOINT=url
    )
    count = "select count(*) from spans where id not like '%event%'"
    sent = ran.json["spans"]
    wait_until(lambda: receiver.rows(count) == [(sent,)])
    receiver.kill()

    assert sent > 1_000


def test_sending_without_a_collector_keeps_the_file(tmp_path: Path) -> None:
    """Nobody answers: the exit code says so, and nothing is lost."""
    program = Program(tmp_path)
    spool = Spool(program.data / SPOOL)
    spool.send(RESOURCE, [SPAN])
    with dead() as port:
        url = f"http://127.0.0.1:{port}"
        ran = program.here("trace", "send", OTEL_EXPORTER_OTLP_ENDPOINT=url)

    assert ran.code == 3
    assert spool.files() == [spool.path]
