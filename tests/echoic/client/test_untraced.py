"""Whether the link of a decision leads to its trace."""

from pathlib import Path
from typing import get_args

import pytest

from echoic.client.untraced import why_untraced
from echoic.config.load import Settings, load
from echoic.config.options import Silent
from replay.recording.decisions import DecisionRecords
from tests.echoic.samples import group, sensed
from tests.echoic.tracing import samples
from tests.factories import heuristic, pack
from tests.scenario import Scenario

GARDEN = pack(heuristic("low", "food is low", "Eat now.", 0.8))


def told(folder: Path, text: str, silent: str, ratio: str = "0") -> str | None:
    """What is said of the trace of what became of an event."""
    turn = Scenario(GARDEN, relevance=0.0).sense(text)
    (record,) = DecisionRecords().take(turn.input, turn.outputs)
    return why_untraced(settings(folder, silent, ratio), record)


def settings(folder: Path, silent: str, ratio: str) -> Settings:
    """Of a data folder without traces."""
    given = {"ECHOIC_TRACE_SILENT": silent, "ECHOIC_TRACE_RATIO": ratio}
    own = {"ECHOIC_DATA": str(folder), "XDG_CONFIG_HOME": str(folder)}
    return load({}, environment=given | own, folder=folder)


@pytest.mark.parametrize("silent", get_args(Silent))
def test_what_spoke_is_traced(tmp_path: Path, silent: str) -> None:
    """Whatever is set for silences."""
    assert told(tmp_path, "food is low", silent) is None


def test_what_is_still_open_was_not_sent(tmp_path: Path) -> None:
    """Its link leads nowhere until it has ended."""
    taken = sensed()
    (record,) = DecisionRecords().take(taken, group(taken, [samples.deferred()]))
    found = why_untraced(settings(tmp_path, "all", "1"), record)

    assert str(found).startswith("not sent yet")


@pytest.mark.parametrize(
    ("silent", "ratio", "says"),
    [
        ("all", "0", None),
        ("auto", "1", None),
        ("auto", "0", "perhaps not traced: beyond 20 a second, 0 of the silences are"),
        ("ratio", "0", "not traced: 0 of the silences are (trace.ratio)"),
        ("none", "1", "not traced: silences are not"),
    ],
)
def test_a_silence_may_be_left_out(
    tmp_path: Path, silent: str, ratio: str, says: str | None
) -> None:
    """With the command that makes its trace."""
    found = told(tmp_path, "quite something else", silent, ratio)

    assert (found is None) == (says is None)
    if says is not None:
        assert str(found).startswith(says)
        assert "; make it: echoic trace send --session " in str(found)
