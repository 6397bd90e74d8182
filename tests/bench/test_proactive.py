"""The bench's tick is the one that is meant: it speaks, or only draws anew."""

from bench import proactive


def test_both_ticks_are_measured() -> None:
    """Each figure is there; the tick itself asserts what came of it."""
    found = proactive.measured(ticks=3)

    assert set(found) == {
        f"{tick}_{part}_us" for tick in ("speaks", "waits") for part in ("p50", "p95")
    }
    assert all(each > 0 for each in found.values())
