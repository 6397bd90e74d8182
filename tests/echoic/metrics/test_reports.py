"""Samples of several processes at one endpoint, and what is read back of them."""

import re
import socket
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from echoic.errors import NotRunningError
from echoic.metrics import catalogue
from echoic.metrics.endpoint import served
from echoic.metrics.meter import Meter
from echoic.metrics.reading import Reading, figures, parsed, read
from echoic.metrics.reports import MARK, Reports, report, samples_of
from echoic.terminal.screen import rendered
from echoic.terminal.top import top
from tests.echoic.metrics.samples import a_bit_of_everything


@pytest.fixture
def reports() -> Reports:
    """Of an instance that works, with a worker that reported and one that did not."""
    made = Reports(CollectorRegistry(), ("worker-1", "worker-2"))
    meter = Meter()
    meter.observe(a_bit_of_everything())
    made.add("worker-0", meter, lambda: True)
    return made


@pytest.fixture
def url(reports: Reports) -> Iterator[str]:
    """Where they are served."""
    with served("127.0.0.1:0", reports, lambda _: None) as where:
        assert where is not None
        yield where


async def _line() -> str:
    """The first report of a process that answered as much as the instance."""
    meter = Meter()
    meter.observe(a_bit_of_everything())
    lines: list[str] = []

    class EnoughError(Exception):
        pass

    def tell(line: str) -> None:
        lines.append(line)
        raise EnoughError

    with pytest.raises(EnoughError):
        await report(meter, tell)
    return lines[0]


async def test_each_process_has_its_samples_under_its_name(
    reports: Reports, url: str
) -> None:
    """The endpoint shows all of them; who is silent does not work."""
    line = await _line()
    assert "\n" not in line
    assert reports.take("worker-1", line)

    found = read(url)

    assert found.total(catalogue.INPUTS) == 20
    assert found.total(catalogue.INPUTS, process="worker-1", kind="sensor") == 5
    assert figures(found, None, None).processes == {
        "worker-0": True,
        "worker-1": True,
        "worker-2": False,
    }


async def test_news_are_no_report(reports: Reports) -> None:
    """A line for a person is left to be shown."""
    assert not reports.take("worker-1", "folding the log: partition 3, 4 of 5")
    assert reports.take("worker-1", MARK + "[]")


async def test_a_process_that_ended_is_shown_no_more(
    reports: Reports, url: str
) -> None:
    """Its gauges must not stand for ever; the next one counts from 0."""
    reports.take("worker-1", await _line())
    reports.forget("worker-1")

    found = read(url)

    assert found.total(catalogue.INPUTS) == 10
    assert found.total(catalogue.UP, process="worker-1") == 0


async def test_a_silent_process_is_shown_no_more(
    reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ten seconds without a report it counts as not working."""
    reports.take("worker-1", await _line())
    monkeypatch.setattr("echoic.metrics.reports._STALE_S", 0.0)

    up = next(each for each in reports.collect() if each.name == catalogue.UP.name)

    assert {s.labels["process"]: s.value for s in up.samples} == {
        "worker-0": 1,
        "worker-1": 0,
        "worker-2": 0,
    }


def test_a_worker_that_is_not_ready_shows_nothing() -> None:
    """It folds the log, and answers nothing yet."""
    reports = Reports(CollectorRegistry())
    reports.add("worker-0", Meter(), lambda: False)

    (up,) = reports.collect()

    assert [(s.labels, s.value) for s in up.samples] == [({"process": "worker-0"}, 0)]


def test_a_taken_port_stops_nobody(reports: Reports) -> None:
    """The metrics are at another one, and somebody is told."""
    told: list[str] = []
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with served(f"127.0.0.1:{port}", reports, told.append) as url:
            assert url is not None
            assert str(port) not in url
            assert read(url).total(catalogue.INPUTS) == 10

    assert len(told) == 1
    assert f"127.0.0.1:{port}" in told[0]


def test_an_address_that_is_not_ours_stops_nobody(reports: Reports) -> None:
    """Without an endpoint the instance runs on."""
    told: list[str] = []

    with served("192.0.2.1:9464", reports, told.append) as url:
        assert url is None

    assert len(told) == 2


@pytest.mark.parametrize("text", ["", "<html>", "echoic_up{ 1"])
def test_what_is_no_endpoint_of_ours_reads_as_nothing_or_an_error(text: str) -> None:
    """Garbage never gets past the parser as something else."""
    try:
        found = parsed(text)
    except ValueError:
        return
    assert figures(found, None, None).processes == {}


def test_nobody_there_is_an_error_with_a_next_step() -> None:
    """The commands' own kind."""
    with pytest.raises(NotRunningError, match="no metrics at"):
        read("http://127.0.0.1:9/metrics")


def test_a_quantile_is_interpolated_as_in_promql() -> None:
    """Ten observations: four up to 1, four up to 2, two beyond the last bound."""
    name = f"{catalogue.DECIDE.name}_bucket"
    counts = {"1.0": 4.0, "2.0": 8.0, "+Inf": 10.0}
    found = Reading({(name, frozenset({("le", le)})): n for le, n in counts.items()})

    assert found.quantile(catalogue.DECIDE, 0.5) == pytest.approx(1.25)
    assert found.quantile(catalogue.DECIDE, 0.2) == pytest.approx(0.5)
    assert found.quantile(catalogue.DECIDE, 0.95) == 2.0
    assert Reading({}).quantile(catalogue.DECIDE, 0.5) is None


def test_what_rose_is_since_the_look_before() -> None:
    """A counter that went back belongs to a process that was started again."""
    key = (catalogue.INPUTS.name, frozenset({("kind", "sensor")}))
    gauge = (catalogue.AGENTS.name, frozenset({("process", "worker-0")}))
    now, before = Reading({key: 5.0, gauge: 3.0}), Reading({key: 3.0, gauge: 2.0})

    assert now.since(before).total(catalogue.INPUTS) == 2
    assert now.since(before).total(catalogue.AGENTS) == 3
    assert before.since(now).total(catalogue.INPUTS) == 3


def test_the_screen_says_what_works_and_what_does_not(url: str) -> None:
    """Since the start amounts, of a stretch rates."""
    now = read(url)

    whole = rendered(top(figures(now, None, None), url))
    lately = rendered(top(figures(now, Reading({}), 2.0), url))

    assert "1 of 3 work, worker-1 not, worker-2 not" in whole
    assert "spoke 2, silent 2, dropped 1" in whole
    assert "answered 1, timeout 1" in whole
    assert re.search(r"read models +up with the log\n", whole)
    assert re.search(r"queue +p95 \S+ m?s\n +write +p95 \S+ m?s\n", whole)
    assert "spoke 1.0/s, silent 1.0/s, dropped 0.5/s" in lately
    assert "the last 2 s" in lately


def test_samples_say_nothing_of_when_a_counter_was_created() -> None:
    """It would double the series, and differ from run to run."""
    meter = Meter()
    meter.observe(a_bit_of_everything())

    assert not [name for _, name, _, _ in samples_of(meter) if "created" in name]
