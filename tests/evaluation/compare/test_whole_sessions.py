"""What is said of whole sessions beside a verdict that judges single decisions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from echoic.api import Mind
from evaluation.compare.document import Document
from evaluation.compare.whole_sessions import NOT_JUDGED
from evaluation.ope import sequential
from replay.recording.session_outcomes import SessionSummary
from replay.recording.source import from_file
from schemas.packs.manifest import Pack
from tests.evaluation.compare.test_compare import document_of, result
from tests.factories import heuristic, pack, pattern

LIFE = {"name": "life", "measure": "duration", "type": "died"}
CHALLENGER = "heuristic_first:threshold=0.5"


def game(*outcomes: dict[str, str]) -> Pack:
    """A pack in which to beat a wolf counts as a success, whatever comes of it."""
    return pack(
        heuristic("fight", "a wolf comes", "Fight it."),
        name="game",
        types=("wolf", "beaten", "died", "step"),
        patterns=[pattern("wolf comes", "wolf is beaten")],
        session_outcomes=list(outcomes),
    ).pack


def lived(folder: Path, number: int, of: Pack, *, fights: int) -> Path:
    """One life: some quiet steps, then fights that are won, and the end right after."""
    mind, at = Mind(of, name=f"game-{number}"), 0.0
    for _ in range(30 + number):
        mind.sense("nothing happens", source="game", type="step", at=(at := at + 5.0))
    for _ in range(fights):
        mind.sense("a wolf comes", source="game", type="wolf", at=(at := at + 5.0))
        mind.sense("wolf is beaten", source="game", type="beaten", at=(at := at + 5.0))
    mind.sense("the end", source="game", type="died", at=at + 5.0)
    return mind.save(folder / f"{number}.echoic")


def compared_lives(folder: Path, lives: int, *outcomes: dict[str, str]) -> Document:
    """That many lives, compared with a challenger."""
    of = game(*outcomes)
    files = [lived(folder, number, of, fights=3) for number in range(lives)]
    return document_of(
        [result(from_file(each), CHALLENGER) for each in files], CHALLENGER
    )


def test_without_a_declared_outcome_nothing_is_said(tmp_path: Path) -> None:
    """There is nothing that would be judged elsewhere."""
    assert compared_lives(tmp_path, 1).whole_sessions == ()


def test_what_an_experiment_takes_and_what_comes_before_an_end(tmp_path: Path) -> None:
    """Twelve lives: their spread gives a number, and the won fight before death is named."""
    said = compared_lives(tmp_path, 12, LIFE).whole_sessions

    assert said[0] == f"{NOT_JUDGED}, which heuristic_first played"
    assert said[1].startswith("life ")
    assert "`echoic ab` takes about" in said[1]
    assert "find a tenth of it" in said[1]
    assert "decisions' outcomes or life are alike in all 12 sessions" in said
    named = said[-1]
    assert named.startswith("“wolf is beaten” counts as a success, and an end comes")
    assert "of 100% of its 36" in named


def test_of_one_session_no_spread_is_told(tmp_path: Path) -> None:
    """Not a number, and not silence either."""
    said = compared_lives(tmp_path, 1, LIFE).whole_sessions

    assert said[0].startswith(NOT_JUDGED)
    assert said[1].endswith("how much it varies, these sessions do not tell")


@pytest.mark.parametrize(
    ("slope", "better", "said"),
    [
        (+1.0, "higher", "the better decisions went, the better was life"),
        (
            -1.0,
            "higher",
            "the better decisions went, the worse, not the better, was life",
        ),
        (-1.0, "lower", "the better decisions went, the better was life"),
        (0.0, "higher", "nothing tells that life goes with decisions' outcomes"),
    ],
)
def test_how_decisions_go_with_sessions(slope: float, better: str, said: str) -> None:
    """By the sign of the correlation, and by which way is better."""
    from evaluation.compare.whole_sessions import _correlated

    draws = np.random.default_rng(1)
    went = draws.random(40)
    lives = slope * went + 0.1 * draws.standard_normal(40)
    pairs = [(float(a), float(b)) for a, b in zip(went, lives, strict=True)]

    found = _correlated(pairs, replace(SUMMARY, better=better))

    assert found.startswith(said)
    assert found.endswith("40 sessions)")


SUMMARY = SessionSummary(
    domain="game", name="life", measure="duration", type="died", better="higher",
    sessions=40, censored=0, mean=90.0, se=2.0,
)  # fmt: skip


@pytest.mark.parametrize(("effect", "deviation"), [(0.1, 0.2), (1.0, 3.0)])
def test_the_sessions_that_are_named_do_find_it(
    effect: float, deviation: float
) -> None:
    """At that number four of five experiments exclude 0; at half of it, far fewer."""
    named = sequential.sessions_for(effect, deviation)
    draws = np.random.default_rng(7)

    def found(sessions: int) -> float:
        hits = 0
        for _ in range(200):
            is_b = draws.random(sessions) < 0.5
            values = draws.normal(0.5, deviation, sessions) + effect * is_b
            low = sequential.asymptotic(sequential.contrast(values, is_b)).low[-1]
            hits += low > 0.0
        return hits / 200

    assert 0.72 <= found(named) <= 0.90
    assert found(named // 2) < 0.6
