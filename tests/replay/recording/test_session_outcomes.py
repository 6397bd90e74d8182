"""Outcomes of whole sessions: counted from events, shown, and judged where they can be."""

import json
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from echoic.api import Mind
from echoic.terminal import experiment
from echoic.terminal.screen import rendered
from evaluation.experiments.session_trials import SessionJudgement, SessionTrial, judge
from evaluation.ope.verdicts import Verdict
from replay.recording.outcomes import Ledger, OutcomeSettings
from replay.recording.session_outcomes import SessionLedger, SessionSummary, summaries
from schemas.messages.experiments import Assignment
from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import Pack, SessionOutcome
from tests.echoic.cli.conftest import Program, echoic
from tests.factories import NOON, heuristic, pack

__all__ = ["echoic"]  # the fixture of the command line

LIFE = {"name": "life", "measure": "duration", "type": "died"}
COINS = {"name": "coins", "measure": "count", "type": "coin"}
STARS = {"name": "stars", "measure": "last", "type": "rated", "field": "stars"}


def declared(*outcomes: dict[str, Any]) -> CompiledPack:
    """A pack that declares them."""
    return pack(
        heuristic("go", "go on", "Go."),
        name="game",
        types=("died", "coin", "rated", "step"),
        session_outcomes=list(outcomes),
    )


def outcomes_of(
    *events: tuple[float, str, dict[str, Any]], of: CompiledPack | None = None
) -> dict[str, SessionSummary]:
    """What one session of these events comes to, by measure."""
    ledger = SessionLedger()
    game = of or declared(LIFE, COINS, STARS)
    for at, type_, fields in events:
        event = Sensed(source="game", type=type_, text=type_, fields=fields)
        ledger.sensed("s", event, game, NOON + timedelta(seconds=at))
    return {each.name: each for each in summaries(ledger.values())}


def test_each_measure_counts_its_events() -> None:
    """Time until an end, how many came, and the last number said."""
    found = outcomes_of(
        (0, "step", {}),
        (10, "coin", {}),
        (20, "coin", {}),
        (25, "rated", {"stars": 2}),
        (40, "rated", {"stars": 4}),
        (60, "died", {}),
    )

    assert {name: each.mean for name, each in found.items()} == {
        "life": 60.0,
        "coins": 2.0,
        "stars": 4.0,
    }
    assert found["life"].censored == 0


def test_a_life_that_goes_on_is_a_lower_bound() -> None:
    """With several lives the unended one counts as time lived, too."""
    alive = outcomes_of((0, "step", {}), (90, "step", {}))["life"]
    twice = outcomes_of(
        (0, "step", {}), (20, "died", {}), (50, "died", {}), (90, "step", {})
    )

    assert (alive.mean, alive.censored) == (90.0, 1)
    assert (twice["life"].mean, twice["life"].censored) == (45.0, 0)


@pytest.mark.parametrize("stars", ["four", True, None])
def test_what_is_no_number_is_not_known(stars: object) -> None:
    """A session without a number has no value, and no mean is made of it."""
    found = outcomes_of((0, "rated", {"stars": stars}))["stars"]

    assert (found.sessions, found.mean, found.se) == (0, None, None)


def test_the_error_is_that_of_the_mean_over_sessions() -> None:
    """Of 2, 4 and 6 the deviation is 2, over the root of three sessions."""
    ledger, game = SessionLedger(), declared(COINS)
    for session, coins in (("a", 2), ("b", 4), ("c", 6)):
        for at in range(coins):
            event = Sensed(source="game", type="coin", text="coin")
            ledger.sensed(session, event, game, NOON + timedelta(seconds=at))
    (found,) = summaries(ledger.values())

    assert found.mean == 4.0
    assert found.se == pytest.approx(2 / 3**0.5)


def test_a_field_belongs_to_the_last_measure_alone() -> None:
    """The manifest says so where it is wrong."""
    with pytest.raises(ValidationError, match="field belongs to measure last"):
        SessionOutcome.model_validate({**COINS, "field": "worth"})
    with pytest.raises(ValidationError, match="last needs it"):
        SessionOutcome.model_validate({**STARS, "field": None})
    with pytest.raises(ValidationError, match="outcomes have one name"):
        Pack.model_validate(
            {"schema": 1, "name": "p", "version": "1", "session_outcomes": [LIFE, LIFE]}
        )


@pytest.mark.parametrize(("type_", "value"), [("step", 0.5), ("died", None)])
def test_silence_at_the_end_of_a_life_is_unknown(type_: str, value: object) -> None:
    """Whatever silence counts elsewhere: nothing said then could have mattered."""
    ledger = Ledger(OutcomeSettings())
    event = Sensed(source="game", type=type_, text=type_)
    ledger.decided(
        "d", event, "e", domain="game", pack=declared(LIFE), is_silent=True, now=NOON
    )

    assert ledger.ended()["d"].value == value


def trials(sessions: int, effect: float, seed: int) -> list[SessionTrial]:
    """Lives of about ten minutes, those under b longer by so many seconds."""
    chance, found, game = Random(seed), [], declared(LIFE)
    for each in range(sessions):
        variant = chance.choice(["a", "b"])
        lived = chance.gauss(600.0, 60.0) + (effect if variant == "b" else 0.0)
        ledger = SessionLedger()
        for at, type_ in ((0.0, "step"), (lived, "died")):
            event = Sensed(source="game", type=type_, text=type_)
            ledger.sensed(f"s{each}", event, game, NOON + timedelta(seconds=at))
        (value,) = ledger.values()
        assignment = Assignment.from_fields(
            {
                "id": "x",
                "variant": variant,
                "unit": f"s{each}",
                "probability": 0.5,
                "washout": False,
            }
        )
        found.append(SessionTrial(assignment, value))
    return found


@pytest.mark.parametrize(
    ("effect", "verdict"), [(-120.0, "WORSE"), (120.0, "BETTER"), (0.0, "INCONCLUSIVE")]
)
def test_an_experiment_judges_lives(effect: float, verdict: str) -> None:
    """The interval holds what is true, and is as wide as the numbers are."""
    (found,) = judge(trials(120, effect, seed=3))

    assert found.verdict == verdict
    assert found.low is not None
    assert found.high is not None
    assert found.low <= effect <= found.high


def test_looking_at_all_times_is_seldom_wrong() -> None:
    """Of forty experiments without an effect, looked at every ten sessions, few claim one."""
    claims = 0
    for seed in range(40):
        whole = trials(100, 0.0, seed=100 + seed)
        looks = (judge(whole[:n])[0].verdict for n in range(20, 101, 10))
        claims += any(each != "INCONCLUSIVE" for each in looks)

    assert claims <= 4


def test_few_sessions_have_no_interval_and_equal_ones_no_verdict() -> None:
    """What cannot be measured is not shown."""
    (few,) = judge(trials(5, 0.0, seed=1))
    (one,) = judge(trials(1, 0.0, seed=1))
    same = [trials(1, 0.0, seed=1)[0]] * 3

    assert (few.low, few.verdict) == (None, "INCONCLUSIVE")
    assert (one.estimate, one.verdict) == (None, "INCONCLUSIVE")
    assert judge(same)[0].verdict == "INCONCLUSIVE"
    assert judge([]) == ()


def test_lower_may_be_better() -> None:
    """The verdict follows what the pack declares."""
    judgement = experiment.session_judgement(
        SessionJudgement(
            domain="game",
            name="deaths",
            better="lower",
            a=2.0,
            b=1.0,
            units=60,
            censored=0,
            estimate=-1.0,
            low=-1.5,
            high=-0.5,
            alpha=0.05,
            verdict=Verdict.BETTER,
        ),
        "session",
    )
    line = rendered([judgement])

    assert line == ("deaths  -1   -1.5 to -0.5   BETTER (lower is better; 60 sessions)")


def test_a_comparison_shows_what_it_does_not_judge(
    echoic: Program, tmp_path: Path
) -> None:
    """Beside the verdict, on screen, page and in JSON."""
    files = []
    for seed in (1, 2):
        mind = Mind(declared(LIFE, COINS).pack, name=f"game-{seed}")
        mind.sense("go on", source="game", type="step", at=0)
        mind.sense("a coin", source="game", type="coin", at=10)
        mind.sense("the end", source="game", type="died", at=60.0 * seed)
        files.append(str(mind.save(tmp_path / f"{seed}.echoic")))
    page = tmp_path / "page.html"

    asked = ("replay", "compare", *files, "--strategy", "silent")
    ran = echoic.here(*asked, "--report", str(page))
    outcomes = json.loads(echoic.here(*asked, "--json").out)["session_outcomes"]

    shown = " ".join(ran.out.split())
    assert "whole sessions: not judged by this recording" in shown
    assert "coins 1: how much it varies" in shown
    assert "life 90 s ± 30: `echoic ab` takes about" in shown
    assert "Whole sessions" in page.read_text()
    assert [(each["name"], each["mean"], each["judged"]) for each in outcomes] == [
        ("coins", 1.0, False),
        ("life", 90.0, False),
    ]
