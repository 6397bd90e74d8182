"""Recordings that a command makes, and what tuning finds on them."""

from pathlib import Path

import pytest

from tests.echoic.cli.conftest import Program

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Forty sessions, as the command plays them."""
    folder = tmp_path_factory.mktemp("greenhouse")
    ran = Program(folder).here("session", "make", "played")

    assert ran.code == 0, ran.err
    assert "echoic tune learning.gamma" in ran.err
    return [str(folder / name) for name in ran.out.splitlines()]


def test_its_sessions_verify_and_are_the_same_again(
    echoic: Program, files: list[str], tmp_path: Path
) -> None:
    """To the byte, whoever plays them."""
    again = echoic.here("session", "make", str(tmp_path), "--sessions", "1", "--json")
    (file,) = again.json["files"]

    assert Path(file).read_bytes() == Path(files[0]).read_bytes()
    assert echoic.here("replay", "verify", files[0]).code == 0


@pytest.mark.parametrize(
    ("search", "name", "better"),
    [
        ("learning.gamma=0.8,1", "learning.gamma", 0.8),
        ("strategy.threshold=0.6,0.8", "strategy.threshold", 0.6),
    ],
)
def test_tuning_finds_something(
    echoic: Program, files: list[str], search: str, name: str, better: float
) -> None:
    """Whoever forgets predicts better, whoever trusts earlier does better, also held out."""
    ran = echoic.here("tune", search, *files, "--json")

    assert ran.code == 0, ran.out + ran.err
    assert ran.json["recommended"][name] == better
    # What silence counts decides a strategy's success, and no prediction's.
    assert ran.json["silence"] == (0.5 if name.startswith("strategy.") else None)
