"""`echoic replay plan`: from a wish, and from a log."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.echoic.cli.conftest import SURVIVAL, Program
from tests.evaluation.simulators import companion

EXPLORED = str(SURVIVAL / "recording" / "explored.echoic")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty sessions of forty decisions, of which one in ten was drawn."""
    played = companion.play(
        np.random.default_rng(1), companion.uniform_odds(0.1), sessions=20, length=40
    )
    path = tmp_path_factory.mktemp("plan") / "log.jsonl"
    with path.open("w") as lines:
        for row in played.observations("tuned"):
            line = {
                "session": row.session,
                "arm": row.arm,
                "p": row.propensity,
                "reward": row.reward,
                "target": row.target,
                "baseline": row.baseline,
            }
            lines.write(json.dumps(line) + "\n")
    return path


def test_plans_for_a_wish(echoic: Program) -> None:
    """Without a log the flips are told, and every scheme has its row."""
    ran = echoic.here("replay", "plan", "--flip-rate", "0.3", "--effect", "0.25")

    assert ran.code == 0, ran.err
    header, *rows = ran.out.splitlines()
    assert header.split()[:2] == ["exploration", "played"]
    sessions = {row[:14].strip(): int(row.split()[-1]) for row in rows}
    assert sessions == {
        "uniform 0.05": 210,
        "uniform 0.1": 105,
        "challenger 0.1": 35,
        "challenger 0.2": 19,
        "challenger 0.5": 15,
    }
    assert "a session holds 40" in ran.err


def test_plans_from_a_log(echoic: Program, log: Path) -> None:
    """What is recorded counts, and its own exploration comes first."""
    ran = echoic.here("replay", "plan", str(log), "--effect", "0.25")

    assert ran.code == 0, ran.err
    assert "recorded: 20 sessions, 800 decisions, 6 flip observations" in ran.err
    header, now, *_ = ran.out.splitlines()
    assert header.endswith("more to record")
    assert now.split() == ["as", "now", "2.5%", "42", "5,600", "140", "120"]


def test_json_has_the_same(echoic: Program, log: Path) -> None:
    """Programs get one document, the same each time."""
    arguments = ("replay", "plan", str(log), "--json")
    ran = echoic.here(*arguments)

    assert ran.json["recorded"] == {
        "sessions": 20,
        "decisions": 800,
        "flip_observations": 6.0,
    }
    now, *_, twice, _ = ran.json["plans"]
    assert now["exploration"] == "as now"
    assert (twice["exploration"], twice["more_sessions"]) == ("challenger 0.2", 51)
    assert echoic.here(*arguments).out == ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "neither a log nor a flip rate"),
        (("--flip-rate", "0"), "flip rate 0.0"),
        (("--flip-rate", "0.3", "--effect", "2"), "effect 2.0"),
        (("--flip-rate", "0.3", "--decisions-per-session", "0"), "per session 0.0"),
        (("missing.jsonl",), "missing.jsonl"),
    ],
    ids=["nothing", "no flips", "effect", "empty sessions", "no file"],
)
def test_says_what_is_wrong(
    echoic: Program, arguments: tuple[str, ...], said: str
) -> None:
    """Bad usage ends with 2 and names the value."""
    ran = echoic.here("replay", "plan", *arguments)

    assert ran.code == 2
    assert said in ran.err


def test_nothing_to_find_out(echoic: Program) -> None:
    """Where the two never differ there is no plan, and the error says so."""
    line = {"arm": "a", "p": 1, "reward": 1, "target": {"a": 1}, "baseline": {"a": 1}}
    ran = echoic.here("replay", "plan", "-", stdin=json.dumps(line))

    assert ran.code == 2
    assert "never differ" in ran.err


def test_plans_from_recordings(echoic: Program) -> None:
    """Their flips are those of the challenger that is named, as `compare` counts them."""
    asked = ("replay", "plan", EXPLORED, "-s", "heuristic_first:threshold=0.5")
    ran = echoic.here(*asked)

    assert ran.code == 0, ran.err
    assert "recorded: 1 sessions, " in ran.err
    assert " flip observations" in ran.err
    assert "more to record" in ran.out.splitlines()[0]


@pytest.mark.parametrize("names", [(EXPLORED,), ("evening",), ("s1", EXPLORED)])
def test_recordings_want_a_challenger(echoic: Program, names: tuple[str, ...]) -> None:
    """The message says how, and shows nothing of the file."""
    ran = echoic.here("replay", "plan", *names)

    assert (ran.code, ran.out) == (2, "")
    assert "nothing is planned until a challenger is named" in " ".join(ran.err.split())
    assert "--strategy STRATEGY" in " ".join(ran.err.split())


def test_a_recording_is_known_by_what_it_begins_with(
    echoic: Program, tmp_path: Path
) -> None:
    """Whatever it is called; other bytes are no log either, and are not shown."""
    renamed, binary = tmp_path / "evening.log", tmp_path / "noise.jsonl"
    renamed.write_bytes(Path(EXPLORED).read_bytes())
    binary.write_bytes(b"\x1b]0;\xffnoise\n")

    assert "a challenger" in echoic.here("replay", "plan", str(renamed)).err
    for command in ("plan", "estimate"):
        ran = echoic.here("replay", command, str(binary))
        assert ran.code == 2
        assert "not text (byte 4 is no UTF-8)" in ran.err
        assert "noise\n" not in ran.err
        assert "\x1b" not in ran.err
