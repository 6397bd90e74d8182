"""Switchback: one value a session, an interval that holds at every look, a fair split."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from evaluation.experiments.switchback import Trial, analyse, chance_of_split
from schemas.messages.experiments import VariantName


def trials(
    values: list[float], variant: VariantName, name: str = "", per_unit: int = 1
) -> Iterator[Trial]:
    """Decisions of as many sessions as there are values."""
    for place, value in enumerate(values):
        for _ in range(per_unit):
            yield Trial(
                unit=f"{variant}{name}{place}",
                variant=variant,
                probability=0.5,
                value=value,
            )


def alternating(a: float, b: float, count: int, spread: float = 0.0) -> list[Trial]:
    """Sessions of both variants in turn; their values lie `spread` around two means."""
    both: list[Trial] = []
    for place in range(count):
        off = spread if place // 2 % 2 else -spread
        name, mean = ("a", a) if place % 2 else ("b", b)
        variant: VariantName = "a" if name == "a" else "b"
        both += trials([mean + off], variant, f"-{place}-")
    return both


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (0.3, 0.7, "BETTER"),
        (0.7, 0.3, "WORSE"),
        (0.5, 0.5, "EQUIVALENT"),
        (0.5, 0.53, "INCONCLUSIVE"),
    ],
)
def test_the_verdict_follows_the_interval(a: float, b: float, verdict: str) -> None:
    """Above zero, below it, within what counts as none, or none of these."""
    spread = 0.01 if a == b else 0.1
    found = analyse(alternating(a, b, 200, spread))

    assert found.verdict == verdict
    assert found.may_stop == (verdict != "INCONCLUSIVE")
    assert found.difference is not None
    assert found.difference.estimate == pytest.approx(b - a, abs=0.02)
    assert found.a.mean == pytest.approx(a)
    assert found.b.mean == pytest.approx(b)


def test_a_few_sessions_give_no_interval() -> None:
    """The estimate stands there without bounds, and how many are missing."""
    found = analyse(alternating(0.2, 0.9, 12))

    assert found.verdict == "INCONCLUSIVE"
    assert [each.code for each in found.reasons] == ["too_few"]
    assert "8 more" in found.reasons[0].detail
    assert found.difference is not None
    assert (found.difference.low, found.difference.high) == (None, None)


def test_nothing_is_known_of_nothing() -> None:
    """An experiment without a decision has neither estimate nor verdict."""
    found = analyse([])

    assert (found.difference, found.a.mean, found.verdict) == (
        None,
        None,
        "INCONCLUSIVE",
    )


def test_equal_values_prove_nothing() -> None:
    """Where every session has the same value, the outcome tells nothing apart."""
    found = analyse(alternating(0.5, 0.5, 60))

    assert found.verdict == "INCONCLUSIVE"
    assert [each.code for each in found.reasons] == ["no_variation"]


def test_washout_gates_and_the_unknown_are_left_out() -> None:
    """They give a session no value; their shares are told."""
    shown = list(trials([1.0], "a", "x"))
    found = analyse(
        [
            *shown,
            replace(shown[0], value=0.0, is_washout=True),
            replace(shown[0], value=0.0, was_asked=False),
            replace(shown[0], value=None),
        ]
    )

    assert (found.a.mean, found.a.decisions, found.a.units) == (1.0, 1, 1)
    assert found.washout_share == pytest.approx(1 / 3)
    assert found.unknown_share == pytest.approx(1 / 2)


def test_what_goes_on_waits() -> None:
    """A session counts once its value is final: over, and with no window still open."""
    both = [*trials([1.0], "a"), *trials([0.0], "b")]
    waiting = Trial(unit="b0", variant="b", probability=0.5, is_waiting=True)

    assert analyse(both).unfinished == 0
    assert analyse(both, "a0").a.counted == 0
    assert analyse([*both, waiting]).b.counted == 0
    assert analyse([*both, waiting], "a0").unfinished == 2


def test_a_session_counts_once_however_long_it_is() -> None:
    """Its value is the mean of its decisions."""
    found = analyse([*trials([1.0], "a", "x", 9), *trials([0.0], "a", "y", 1)])

    assert found.a.mean == 0.5


def test_an_uneven_split_is_invalid() -> None:
    """Sixty to twenty is no fair draw, whatever the values say."""
    found = analyse([*trials([0.1] * 60, "a"), *trials([0.9] * 20, "b")])

    assert found.verdict == "INVALID"
    assert [each.code for each in found.reasons] == ["uneven_split"]


def test_a_session_under_both_variants_is_invalid() -> None:
    """One draw gives one variant."""
    mixed = Trial(unit="a0", variant="b", probability=0.5, value=1.0)
    found = analyse([*trials([1.0], "a"), mixed])

    assert found.verdict == "INVALID"
    assert [each.code for each in found.reasons] == ["mixed_units"]


@pytest.mark.parametrize(
    ("a", "b", "chance"),
    [(0, 0, 1.0), (5, 5, 1.0), (0, 10, 2 / 1024), (10, 0, 2 / 1024), (1, 9, 22 / 1024)],
)
def test_the_chance_of_a_split_is_exact(a: int, b: int, chance: float) -> None:
    """Both tails of the fair coin's binomial."""
    assert chance_of_split(a, b) == pytest.approx(chance)


def test_many_units_are_compared_by_the_normal_distribution() -> None:
    """It goes on where the exact one ends."""
    assert chance_of_split(1_020, 980) == pytest.approx(
        chance_of_split(1_021, 980), rel=0.1
    )
    assert chance_of_split(6_000, 4_000) < 1e-10


@pytest.mark.parametrize("effect", [0.0, 0.15])
def test_looking_after_each_session_is_no_fault(effect: float) -> None:
    """In at most 5 of 100 experiments does any of 27 looks miss the truth."""
    missed = sum(_any_look_misses(seed, effect) for seed in range(80))

    assert missed <= 0.05 * 80


def _any_look_misses(seed: int, effect: float) -> bool:
    drawn = np.random.default_rng(seed)
    so_far: list[Trial] = []
    for session in range(150):
        variant: VariantName = "b" if drawn.random() < 0.5 else "a"
        lift = effect if variant == "b" else 0.0
        chance = np.clip(0.5 + lift + drawn.normal(0.0, 0.1), 0.02, 0.98)
        so_far += [
            Trial(
                unit=f"s{session}",
                variant=variant,
                probability=0.5,
                value=float(drawn.random() < chance),
            )
            for _ in range(8)
        ]
        if session % 5 == 4:
            found = analyse(so_far).difference
            assert found is not None
            low, high = found.low, found.high
            if low is not None and high is not None and not low <= effect <= high:
                return True
    return False


def test_a_certain_difference_that_is_too_small_is_none() -> None:
    """As in a comparison: the interval lies above 0, and within what counts as none."""
    found = analyse(alternating(0.5, 0.512, 600, 0.001))

    assert found.difference is not None
    assert found.difference.low is not None
    assert found.difference.low > 0.0
    assert found.verdict == "EQUIVALENT"


def test_what_counts_as_no_difference_follows_how_often_a_succeeds() -> None:
    """The same spread is nothing beside one half, and may be all beside four in 1,000."""

    def verdict(base: float) -> str:
        values = [base - 0.002, base + 0.002, base + 0.002, base - 0.002] * 100
        turns = zip(trials(values, "a"), trials(values[::-1], "b"), strict=True)
        return analyse([each for pair in turns for each in pair]).verdict

    assert verdict(0.5) == "EQUIVALENT"
    assert verdict(0.004) == "INCONCLUSIVE"
