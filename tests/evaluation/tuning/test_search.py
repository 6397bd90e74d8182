"""A search: what looks best on earlier sessions is judged once on later ones."""

import asyncio
import builtins
from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean
from typing import Any

import pytest

from evaluation.tuning.predictive_skill import mean_gain
from evaluation.tuning.search import (
    Evaluation,
    Gain,
    Objective,
    Refused,
    Search,
    TooFewSessionsError,
    Values,
    search,
)
from evaluation.tuning.search_space import (
    Grid,
    MissingOptunaError,
    RangeError,
    Tpe,
    parse_range,
)

Draw = Callable[[float, int], float]
"""What a choice gains in a session."""


class Made:
    """An objective that is made up."""

    def __init__(self, sessions: int, draw: Draw, refuse: float | None = None) -> None:
        self.sessions = sessions
        self.names = [f"s{place}" for place in range(sessions)]
        self.asked: list[tuple[float, int, int]] = []
        self._draw = draw
        self._refuse = refuse

    async def gains(
        self, choices: Sequence[Values], sessions: range
    ) -> list[Evaluation]:
        return [self._gain(float(choice["x"]), sessions) for choice in choices]

    def worth(self, gain: Gain) -> float:
        return gain.value

    def _gain(self, x: float, sessions: range) -> Evaluation:
        self.asked.append((x, sessions.start, sessions.stop))
        if x == self._refuse:
            return Refused("unsupported", "0.30 of its odds were never played")
        return mean_gain(
            [self._draw(x, each) for each in sessions], [1] * len(sessions)
        )


def found(objective: Objective, text: str = "1..20") -> Search:
    """What a search on a grid finds."""
    return asyncio.run(search(objective, Grid({"x": parse_range(text)})))


def noise(seed: int) -> Draw:
    """Gains that are luck alone: spread .25 a session, and 0 on average."""
    random = Random(seed)
    drawn: dict[tuple[float, int], float] = {}

    def draw(x: float, session: int) -> float:
        return drawn.setdefault((x, session), random.gauss(0.0, 0.25))

    return draw


def test_the_best_of_noise_is_seen_through() -> None:
    """Over 200 searches among 20 equal choices in 50 sessions: what the search promises,
    the later sessions do not keep, and hardly ever is any choice recommended."""
    searches = [found(Made(50, noise(seed))) for seed in range(200)]

    promised, kept = [], []
    for each in searches:
        best = each.finalists[0]
        assert isinstance(best.search, Gain)
        assert isinstance(best.holdout, Gain)
        promised.append(best.search.value)
        kept.append(best.holdout.value)
    recommended = sum(each.recommended is not None for each in searches)

    assert fmean(promised) > 0.06
    # Three Monte-Carlo errors of .25 / sqrt(20 sessions x 200 searches).
    assert abs(fmean(kept)) < 3 * 0.25 / (20 * 200) ** 0.5
    assert recommended <= 0.05 * len(searches)


def test_a_real_gain_is_recommended() -> None:
    """It holds on the later sessions, even counted among three."""
    luck = noise(1)
    objective = Made(60, lambda x, s: luck(x, s) + (0.4 if x == 7 else 0.0))

    recommended = found(objective).recommended

    assert recommended is not None
    assert recommended.values == {"x": 7}
    assert recommended.adjusted_p is not None
    assert recommended.adjusted_p <= 0.05


def test_the_later_sessions_are_met_once() -> None:
    """By three choices, after the search is over."""
    objective = Made(10, noise(3))

    result = found(objective)

    assert (result.searched, result.held_out) == (
        tuple(f"s{each}" for each in range(6)),
        ("s6", "s7", "s8", "s9"),
    )
    assert [each[1:] for each in objective.asked] == [(0, 6)] * 20 + [(6, 10)] * 3
    assert len(result.finalists) == 3
    assert len(result.trials) == 20


def test_a_refused_choice_says_why_and_never_wins() -> None:
    """However well it would have scored."""
    objective = Made(10, lambda x, _: x, refuse=20.0)

    result = found(objective)

    assert [each.values for each in result.refused] == [{"x": 20}]
    assert result.finalists[0].values == {"x": 19}
    assert result.trials[-1].search == Refused(
        "unsupported", "0.30 of its odds were never played"
    )


def test_nothing_better_is_found_where_nothing_is() -> None:
    """Then nothing is judged, for that costs a look at the later sessions."""
    objective = Made(10, lambda x, _: -x)

    result = found(objective)

    assert result.finalists == ()
    assert result.recommended is None
    assert all(stop == 6 for _, _, stop in objective.asked)


def test_a_gain_that_whoever_judges_it_doubts_is_not_recommended() -> None:
    """As an estimate whose gates caution is."""

    class Doubted(Made):
        def _gain(self, x: float, sessions: range) -> Evaluation:
            return Gain(1.0, 0.1, (0.8, 1.2), 0.001, len(sessions), is_clear=False)

    assert found(Doubted(10, noise(1))).recommended is None


def test_of_equal_choices_the_nearest_is_taken() -> None:
    """And only one of them meets the later sessions, for they are one way to decide."""
    luck = noise(5)
    objective = Made(40, lambda x, s: luck(0.0, s) + (0.5 if x < 6 else 0.0))
    grid = Grid({"x": parse_range("1..9")})

    result = asyncio.run(search(objective, grid, {"x": 7, "tone": "dry"}))

    assert result.finalists[0].values == {"x": 5}
    assert len({each.search for each in result.finalists}) == len(result.finalists)


def test_too_few_sessions_are_refused() -> None:
    """There must be some to judge by."""
    with pytest.raises(TooFewSessionsError, match=r"too few .*: 4; give at least 5"):
        found(Made(4, noise(1)))


def test_the_same_search_gives_the_same() -> None:
    """On a grid and with Optuna, which is seeded."""

    def tpe(seed: int) -> Search:
        ranges = {name: parse_range("0..1/3") for name in ("x", "y", "z", "w")}
        current = dict.fromkeys(ranges, 0.5)
        objective = Made(10, lambda x, _: -((x - 0.3) ** 2) + 0.1)
        return asyncio.run(search(objective, Tpe(ranges, current, 30, seed)))

    one, other = tpe(1), tpe(1)

    assert one == other
    assert len(one.trials) == 30
    assert {"x": 0.5, "y": 0.5, "z": 0.5, "w": 0.5} in [
        each.values for each in one.trials
    ]
    best = one.finalists[0].values["x"]
    assert abs(float(best) - 0.3) < 0.1


def test_optuna_learns_of_refused_choices_and_of_lists() -> None:
    """A refused choice fails; a list is tried as it stands, whole numbers stay whole."""
    ranges = {"x": parse_range("1,2"), "n": parse_range("1..3")}
    tpe = Tpe(ranges, {"x": 1, "n": 9}, 12, seed=0)
    objective = Made(10, lambda x, _: x, refuse=2.0)

    result = asyncio.run(search(objective, tpe))

    assert {each.values["x"] for each in result.trials} <= {1, 2}
    assert all(isinstance(each.values["n"], int) for each in result.trials)
    assert result.refused


def test_without_optuna_a_wide_search_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is an extra that a small search does not need."""
    imported = builtins.__import__

    def absent(name: str, *rest: Any, **named: Any) -> Any:
        if name == "optuna":
            raise ImportError(name)
        return imported(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingOptunaError, match=r"pip install 'echoic\[tune\]'"):
        Tpe({"x": parse_range("0..1/3")}, {}, 10, seed=0)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("1..3", (1, 2, 3)),
        ("0.9..1", (0.9, 0.925, 0.95, 0.975, 1.0)),
        ("0..1/3", (0.0, 0.5, 1.0)),
        ("0.5,0.7", (0.5, 0.7)),
        ("3", (3,)),
        ("0..1", (0, 0.25, 0.5, 0.75, 1)),
    ],
)
def test_a_range_is_read_as_it_is_written(text: str, points: tuple[float, ...]) -> None:
    """Whole numbers one by one, others in five points or as many as are asked for."""
    assert parse_range(text).points == points


def test_a_real_setting_has_no_whole_numbers() -> None:
    """Whatever its range's ends look like."""
    found = parse_range("1..5", is_real=True)

    assert (found.points, found.is_whole) == ((1.0, 2.0, 3.0, 4.0, 5.0), False)


@pytest.mark.parametrize(
    "text", ["", "a..b", "1..1", "2..1", "0..1/1", "0..1/x", "0..inf"]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    """With examples of what is one."""
    with pytest.raises(RangeError, match=r"give 0\.9\.\.1"):
        parse_range(text)


def test_a_grid_holds_every_combination_once() -> None:
    """And is over then."""
    grid = Grid({"b": parse_range("1..2"), "a": parse_range("1..2")})

    assert grid.ask() == [
        {"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 2, "b": 2},
    ]  # fmt: skip
    assert grid.ask() == []
