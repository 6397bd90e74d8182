"""The limits that ship are those that the labelled pairs give."""

from typing import get_args

import pytest

from bench.embedders.measure import (
    WANTED_PRECISION,
    Use,
    lowest,
    main,
    measure,
    read_pairs,
)
from echoic.embedders import EMBEDDERS
from schemas.packs.conditions import holds, parse


@pytest.mark.parametrize("use", get_args(Use))
@pytest.mark.parametrize("name", sorted(EMBEDDERS))
def test_limits_follow_from_the_pairs(name, use):
    """Each embedder ships the lowest limit that reaches the wanted precision."""
    chosen = EMBEDDERS[name]()
    rows = measure([pair for pair in read_pairs() if pair.use == use], chosen)

    assert getattr(chosen.limits, use) == lowest(rows, WANTED_PRECISION[use])


def test_there_are_enough_pairs_and_each_once():
    """At least 200 pairs over three domains, none of them twice."""
    pairs = read_pairs()

    assert len(pairs) >= 200
    assert len(set(pairs)) == len(pairs)
    assert {pair.domain for pair in pairs} == {"game", "work", "home"}


def test_traps_pass_every_limit_but_no_condition():
    """What the match limit lets through by meaning alone, a `when` keeps apart."""
    chosen = EMBEDDERS["wordllama"]()
    traps = [
        pair for pair in read_pairs() if (pair.use, pair.label) == ("match", "trap")
    ]
    (at_limit,) = [
        row for row in measure_traps(traps, chosen) if row.limit == chosen.limits.match
    ]
    when = parse("health <= 3")

    assert at_limit.traps > 0.9
    assert holds(when, "vital_changed", "game", {"health": 2, "of": 9})
    assert not holds(when, "vital_changed", "game", {"health": 8, "of": 9})


def measure_traps(traps, chosen):
    same = [
        pair for pair in read_pairs() if (pair.use, pair.label) == ("match", "same")
    ]
    return measure([*traps, *same], chosen)


def test_the_table_is_printed(capsys, monkeypatch):
    """The script prints one table per use."""
    monkeypatch.setattr("sys.argv", ["measure"])
    main()

    assert capsys.readouterr().out.count("limit  precision") == 4
