"""`echoic replay compare` as a program: its exit codes, its files, its errors."""

import pytest

from tests.echoic.cli.conftest import SURVIVAL, Program

pytestmark = pytest.mark.timeout(240)

EVENING = str(SURVIVAL / "recording" / "evening.echoic")


def test_a_report_that_cannot_be_written_is_said_before_the_work(
    echoic: Program,
) -> None:
    """A folder, or a file in a folder that is not there."""
    into = ("replay", "compare", EVENING, "-s", "silent", "--report")

    folder = echoic.here(*into, str(echoic.folder))
    nowhere = echoic.here(*into, str(echoic.folder / "gone" / "out.html"))

    assert (folder.code, folder.out) == (2, "")
    assert "is a folder: name a file in it" in folder.err
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "there is no such folder" in nowhere.err


def test_a_fork_beyond_the_recording_is_an_error(echoic: Program) -> None:
    """All of it would stay as recorded, and nothing be said of the challenger."""
    ran = echoic.here("replay", "compare", EVENING, "-s", "silent", "--from", "99999")

    assert (ran.code, ran.out) == (2, "")
    assert "--from 99999: the last input recorded is " in ran.err


def test_what_trips_a_build_is_named_with_its_challenger(echoic: Program) -> None:
    """Exit code 1, and the report is there all the same."""
    page = echoic.folder / "out.html"
    named = ("-s", "silent", "-s", "heuristic_first", "--report", str(page))

    ran = echoic.here(
        "replay", "compare", EVENING, *named, "--fail-on", "flips>0", "--json"
    )

    assert ran.code == 1
    assert ran.json["verdict"] == "NOT_ENOUGH_OVERLAP"
    assert "--fail-on flips>0: silent has " in ran.err
    assert "heuristic_first has" not in ran.err
    assert page.read_text().startswith("<!doctype html>")
    assert not list(echoic.folder.glob("*.new"))


def test_flips_can_be_seen_beside_the_recorded_decisions(echoic: Program) -> None:
    """Each names Jaeger's page of both traces; the file holds these, to be uploaded."""
    file, page = echoic.folder / "traces.jsonl", echoic.folder / "out.html"
    named = ("-s", "heuristic_first:threshold=0.5", "--report", str(page))
    traced = ("--trace-to", str(file), "--trace-limit", "7")

    ran = echoic.here("replay", "compare", EVENING, *named, *traced, "--json")

    assert ran.code == 0
    flips = ran.json["comparisons"][0]["flips"]
    urls = [flip["compare_url"] for flip in flips if flip["compare_url"]]
    assert len(urls) == 7 < len(flips)
    assert urls[0] in page.read_text()
    written = file.read_text()
    for url in urls:
        for id_ in url.rpartition("/")[2].split("..."):
            assert f'"traceId":"{id_}"' in written


def test_a_collector_that_is_away_is_said_before_the_work(echoic: Program) -> None:
    """With what to do instead."""
    ran = echoic.here(
        "replay", "compare", EVENING, "-s", "silent", "--trace",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
    )  # fmt: skip

    assert (ran.code, ran.out) == (3, "")
    assert "no trace collector at 127.0.0.1:9" in ran.err
    assert "--trace-to traces.otlp.jsonl" in ran.err


def test_a_verdict_says_for_whom(echoic: Program) -> None:
    """Of the recording's own people, or of others: of one agent nobody knows."""
    page = echoic.folder / "out.html"
    named = (EVENING, "-s", "heuristic_first:threshold=0.5")

    shown = echoic.here("replay", "compare", *named, "--report", str(page))
    others = echoic.here("replay", "compare", *named, "--for", "alike", "--json")

    assert "for agent companion" in shown.out
    assert "for agent companion" in page.read_text()
    difference = others.json["comparisons"][0]["estimate"]["difference"]
    assert difference["whom"]["population"] == "alike"
    assert difference["whom"]["words"] == "for agents like these 1"
    assert "few_people" in [each["code"] for each in difference["reasons"]]
