"""Tuning from the command line: retuned curves, searches, and proposals that are applied."""

import re
from pathlib import Path

import orjson
import pytest
from msgspec import structs

from schemas.messages.decisions import HeuristicFired
from streams.session_files.file import read_session, write_session
from streams.session_files.redigest import redigest
from tests.echoic.cli.acting import eventually, thirsty
from tests.echoic.cli.conftest import SURVIVAL, Program
from tests.evaluation.tuning.many_sessions import drifting
from tests.replay.evening import place, with_record
from tests.replay.scenarios import file_of_scenario

EVENING = str(SURVIVAL / "recording" / "evening.echoic")


@pytest.fixture(scope="module")
def drift(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of sessions in which what worked stops working, again and again."""
    file = tmp_path_factory.mktemp("drift") / "drift.echoic"
    write_session(file, file_of_scenario(drifting(16)))
    return file


def test_a_file_is_folded_under_other_settings(echoic: Program) -> None:
    """Without an instance; the same command prints the same."""
    command = ("projection", "replay", "--set", "learning.gamma=0.9", EVENING)
    ran, again = echoic.here(*command), echoic.here(*command)

    assert ran.code == 0, ran.err
    assert ran.out == again.out
    assert "learning.gamma 1 → 0.9" in ran.out
    fields = echoic.here(*command, "--json").json
    assert fields["predictions"] > 0
    assert fields["recorded"]["reliability"]["null_band"]["p95"] > 0


def test_a_preset_sets_every_weight(echoic: Program) -> None:
    """`seed` counts each of its signals whole; --set goes over it."""
    ran = echoic.here(
        "projection", "replay", "--preset", "seed", "--set",
        "learning.weights.explicit=0.5", EVENING, "--json",
    )  # fmt: skip

    after = {name: each["after"] for name, each in ran.json["changes"].items()}
    assert after == {
        "learning.weights.outcome": 1.0,
        "learning.weights.explicit": 0.5,
        "learning.weights.endorsement": 1.0,
        "learning.weights.ignored": 0.3,
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((EVENING,), "nothing is to be changed"),
        (("--set", "learning.gamma", EVENING), "'learning.gamma' sets nothing"),
        (("--set", "learning.gama=1", EVENING), "did you mean 'learning.gamma'"),
        (("--set", "learning.gamma=2", EVENING), "a number from 0.01 to 1"),
        (("--set", "learning.gamma=1", "none.echoic"), "cannot read 'none.echoic'"),
    ],
)
def test_what_cannot_be_folded_is_told(
    echoic: Program, arguments: tuple[str, ...], said: str
) -> None:
    """With exit code 2 and what is wrong."""
    ran = echoic.here("projection", "replay", *arguments)

    assert ran.code == 2
    assert said in ran.err


def test_a_search_finds_what_fits_a_drift(echoic: Program, drift: Path) -> None:
    """It shows what was promised beside what was kept; `search` may be left out."""
    ran = echoic.here("tune", "learning.gamma=0.5..1", str(drift))
    named = echoic.here("tune", "search", "learning.gamma=0.5..1", str(drift), "--json")

    assert ran.code == named.code == 0, ran.err
    assert "search +" in ran.out
    assert "hold-out +" in ran.out
    assert named.json["recommended"]["learning.gamma"] < 1.0
    assert named.json["current"] == {"learning.gamma": 1.0}
    assert (len(named.json["searched"]), len(named.json["held_out"])) == (10, 6)


def test_where_nothing_holds_nothing_is_recommended(
    echoic: Program, drift: Path
) -> None:
    """With exit code 1, and nothing is proposed."""
    ran = echoic.here("tune", "learning.kappa=2,2.0001", str(drift), "--submit")

    assert ran.code == 1
    assert "KEEP what is in force" in ran.out


def test_a_wide_search_goes_by_optuna(echoic: Program, drift: Path) -> None:
    """Seeded, so that it finds the same twice."""
    command = (
        "tune", "learning.gamma=0.5..1", "learning.kappa=1..5",
        "learning.weights.outcome=0.5..2", "learning.weights.explicit=0..1",
        str(drift), "--trials", "16", "--json",
    )  # fmt: skip
    one, other = echoic.here(*command), echoic.here(*command)

    assert one.code == 0, one.err
    assert one.out == other.out
    assert len(one.json["trials"]) == 16


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("learning.gama=0..1",), "there is no setting 'learning.gama'"),
        (("learning.gamma=0..1",), "a number from 0.01 to 1"),
        (("learning.gamma=high",), "'high' is no range"),
        (("learning.gamma=0.5..1", "strategy.threshold=0..1"), "one after the other"),
        (("strategy.genius=0..1",), "genius"),
        (("learning.gamma=0.5..1", "--silence", "0.3"), "silence does not count"),
        (("strategy.threshold=0..7",), "confidence_threshold"),
        ((), "nothing is to be searched"),
    ],
)
def test_what_cannot_be_searched_is_told(
    echoic: Program, drift: Path, arguments: tuple[str, ...], said: str
) -> None:
    """With exit code 2 and what there is."""
    ran = echoic.here("tune", *arguments, str(drift))

    assert ran.code == 2
    assert said in ran.err


def test_too_few_sessions_are_told(echoic: Program) -> None:
    """One evening cannot be searched and judged by."""
    ran = echoic.here("tune", "learning.gamma=0.5..1", EVENING)

    assert ran.code == 2
    assert "give at least 5" in ran.err


@pytest.mark.services
@pytest.mark.timeout(240)
def test_a_proposal_is_applied_and_reverted(live: Program, drift: Path) -> None:
    """It is listed with its evidence, decides once applied, and verifies throughout."""
    me = ("--agent", "tuned")
    search = ("tune", "learning.gamma=0.5..1", str(drift), "--submit", *me)
    refused = live.here(*search)
    assert refused.code == 2
    assert "not of tuned in this instance's log" in " ".join(refused.err.split())
    searched = live.here(*search, "--anyway")
    assert searched.code == 0, searched.err
    (row,) = live.here("tune", "list", "--json", *me).json["rows"]
    assert row["status"] == "submitted"
    assert row["evidence"].startswith("search +")
    assert row["figures"]["holdout"] > 0
    assert "measured on recordings of others" in row["evidence"]

    applied = live.here("tune", "apply", row["id"], *me)
    assert applied.code == 0, applied.err
    gamma = row["changes"][0]["after"]
    state = live.here("state", "tuned", "--json").json
    assert state["learning"]["gamma"] == gamma
    assert f"proposal {row['id']}" in live.here("state", "tuned").out
    shown = live.here("config", "show", "--json", *me).json
    assert shown["settings"]["learning.gamma"] == gamma
    assert row["id"] in shown["origins"]["learning.gamma"]
    assert thirsty(live, "tuned", 3, "Your drink is low: 3 of 9.")["accepted"]
    folded = live.here("projection", "replay", "--set", "learning.gamma=1", *me)
    assert folded.code == 0, folded.err

    again = live.here("tune", "apply", row["id"], *me)
    assert again.code == 1
    assert "already_applied" in again.err
    reverted = live.here("tune", "revert", row["id"], *me, "--json")
    assert reverted.json["control"] == "proposal_reverted"
    assert live.here("state", "tuned", "--json").json["learning"]["gamma"] == 1.0
    assert "reverted" in live.here("tune", "list", *me).out
    assert live.here("replay", "verify", *me).code == 0
    proved = eventually(lambda: live.here("projection", "rebuild", "--verify"))
    assert proved.code == 0, proved.err


@pytest.mark.services
@pytest.mark.timeout(240)
def test_nothing_was_proposed_to_a_stranger(live: Program) -> None:
    """The list says so, once the agent is known at all."""
    live.here("goals", "set", "Rest", "--agent", "untuned")
    ran = live.here("tune", "list", "--agent", "untuned")

    assert (ran.code, ran.out) == (0, "")
    assert "nothing was proposed yet" in ran.err


def test_a_recording_that_disagrees_with_itself_is_invalid(
    echoic: Program, drift: Path
) -> None:
    """With exit code 3, the file and the input."""
    file = read_session(drift)
    index = place(file, f".{HeuristicFired.token}", -1)
    record = file.records[index]
    body = orjson.dumps({**orjson.loads(record.body), "confidence": 0.123})
    forged = echoic.folder / "forged.echoic"
    write_session(forged, with_record(file, index, structs.replace(record, body=body)))
    # As who knows of the digests would, or the file were refused for these.
    redigest(forged)

    for command in (
        ("projection", "replay", "--set", "learning.gamma=0.9"),
        ("tune", "strategy.threshold=0.3..0.9"),
    ):
        ran = echoic.here(*command, str(forged))
        assert ran.code == 3, ran.err
        assert re.search(r"forged\.echoic: input \d+", ran.err)
