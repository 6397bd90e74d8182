"""Which decisions are traced."""

from typing import get_args

import pytest

from echoic.config.options import Silent
from echoic.tracing.sampling import RATE, Sampler, Sampling, is_drawn, left_out
from schemas.codec.envelope import Output
from tests.echoic.tracing import samples

SECOND_NS = 1_000_000_000


def silent(number: int) -> tuple[Output, ...]:
    """The group of a silent decision."""
    return samples.sensed((f"s{number}", samples.silent())).outputs


@pytest.mark.parametrize("wanted", get_args(Silent))
def test_what_speaks_is_always_traced(wanted: Silent) -> None:
    """Neither a setting nor a burst drops a decision that spoke, waits, or shows more."""
    sampler = Sampler(Sampling(wanted, ratio=0.0))
    spoke = samples.sensed(("d", samples.decided())).outputs
    waits = samples.sensed(("w", samples.deferred())).outputs
    shows = samples.sensed(("s", samples.silent()), ("o", samples.outcome("d"))).outputs

    assert all(
        sampler.keeps(each, 0) for _ in range(100) for each in (spoke, waits, shows)
    )


def test_all_or_none_of_the_silent() -> None:
    """Two of the settings leave nothing to chance."""
    everything, nothing = Sampler(Sampling("all")), Sampler(Sampling("none"))

    assert all(everything.keeps(silent(number), 0) for number in range(100))
    assert not any(nothing.keeps(silent(number), 0) for number in range(100))


def test_a_slow_stream_is_traced_whole() -> None:
    """Up to twenty a second nothing is left out."""
    sampler = Sampler(Sampling(ratio=0.0))
    step = round(SECOND_NS / RATE.rate)

    assert all(sampler.keeps(silent(n), n * step) for n in range(200))


def test_of_a_burst_a_share_is_traced() -> None:
    """Beyond the rate the decision's id draws, and one in four is kept."""
    sampler = Sampler(Sampling(ratio=0.25))
    kept = [number for number in range(2_000) if sampler.keeps(silent(number), 0)]
    drawn = [number for number in range(2_000) if is_drawn(silent(number)[0].id, 0.25)]

    assert set(kept) == set(range(RATE.burst)) | set(drawn)
    assert 400 < len(drawn) < 600


def test_every_machine_draws_alike() -> None:
    """The draw depends on the decision alone: not on the order, nor on what came before."""
    forward = Sampler(Sampling("ratio", 0.3))
    backward = Sampler(Sampling("ratio", 0.3))
    there = {n for n in range(500) if forward.keeps(silent(n), n)}
    back = {n for n in reversed(range(500)) if backward.keeps(silent(n), SECOND_NS)}

    assert there == back
    assert 100 < len(there) < 200


def test_a_larger_share_holds_the_smaller() -> None:
    """Raising the ratio adds traces and takes none away."""
    few = {n for n in range(500) if is_drawn(silent(n)[0].id, 0.1)}
    many = {n for n in range(500) if is_drawn(silent(n)[0].id, 0.5)}

    assert few < many


@pytest.mark.parametrize("ratio", [0.0, 0.25, 1.0])
def test_what_is_left_out_is_known_of_a_share(ratio: float) -> None:
    """Of a share for certain, of `auto` perhaps: how many there were is not on record."""
    for number in range(100):
        id_ = silent(number)[0].id
        kept = Sampler(Sampling("ratio", ratio)).keeps(silent(number), 0)

        assert (left_out(id_, Sampling("ratio", ratio)) is None) == kept
        assert (left_out(id_, Sampling("auto", ratio)) is None) == kept
        assert left_out(id_, Sampling("all", ratio)) is None
        assert left_out(id_, Sampling("none", ratio)) is not None


def test_why_one_is_left_out_names_the_setting() -> None:
    """And says `perhaps` where it may have been traced."""
    assert left_out("x", Sampling("ratio", 0.0)) == (
        "not traced: 0 of the silences are (trace.ratio)"
    )
    assert str(left_out("x", Sampling("auto", 0.0))).startswith("perhaps not traced")
