"""Readings that are missing or no number: no alarm comes of what is not known."""

from typing import Any

import orjson
import pytest

from projections.folds.partition import fold_recorded
from schemas.messages.decisions import Decided
from tests.factories import heuristic, pack
from tests.scenario import Scenario, one

FREEZING = heuristic(
    "freezing", "the hall reports its temperature", "The hall is freezing.", 0.9
)


def answered(when: str, celsius: object, *, declared: bool = False) -> str | None:
    """What is said of a reading; the field is absent for `...`."""
    fields: dict[str, Any] = {"fields": {"celsius": "number"}} if declared else {}
    home = pack(
        FREEZING | {"when": when}, types=(), events=[{"type": "climate", **fields}]
    )
    scenario = Scenario(home)
    told = {} if celsius is ... else {"celsius": celsius}
    turn = scenario.sense(
        "the hall reports its temperature",
        type_="climate",
        fields=told,
        salience={"threat": 0.9},
    )
    return one(turn, Decided).text


@pytest.mark.parametrize(
    "when",
    ["celsius < 5", "not (celsius >= 5)", "not celsius >= 5", "not not celsius < 5"],
)
@pytest.mark.parametrize("celsius", ["unavailable", ..., None, "20.5", True, [3], "3"])
def test_what_is_no_reading_raises_no_alarm(when: str, celsius: object) -> None:
    """Neither the condition nor its denial holds of what is unknown."""
    assert answered(when, celsius) is None


@pytest.mark.parametrize(
    ("celsius", "expected"),
    [
        ("3", "The hall is freezing."),
        (" -3.50 ", "The hall is freezing."),
        (3.5, "The hall is freezing."),
        ("20.5", None),
        ("unavailable", None),
        ("007", None),
        ("nan", None),
        ("1e400", None),
        ("", None),
        (None, None),
    ],
)
def test_a_declared_number_may_come_as_text(
    celsius: object, expected: str | None
) -> None:
    """As JSON writes numbers; whatever else comes stays text."""
    assert answered("not celsius >= 5", celsius, declared=True) == expected


def test_the_fold_of_the_log_reads_the_same_number() -> None:
    """The state after the turn is the one that its records fold to."""
    home = pack(
        FREEZING | {"when": "celsius < 5"},
        types=(),
        events=[{"type": "climate", "fields": {"celsius": "number"}}],
    )
    scenario = Scenario(home)
    before = scenario.state
    turn = scenario.sense(
        "the hall reports its temperature",
        type_="climate",
        fields={"celsius": "3"},
        salience={"threat": 0.9},
    )
    records = [output.record for output in turn.outputs]
    folded = fold_recorded(before, turn.input, records, scenario.aids_of(turn.input))

    assert folded.agents == scenario.state.agents
    assert orjson.loads(turn.input.record.body)["fields"] == {"celsius": "3"}
