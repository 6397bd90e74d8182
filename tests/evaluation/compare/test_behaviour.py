"""What two behaviours come to beside each other, and what kind of number that is."""

import pytest

from evaluation.compare.behaviour import Act, behaviour, facts

SPOKE = Act(spoke=True, path="heuristic", latency_ms=(1.0, 1.0))
SILENT = Act(spoke=False, path="none")
IMPUTED = Act(spoke=True, path="llm", asked_model=True, is_imputed=True)


@pytest.mark.parametrize(
    ("theirs", "is_heard", "of_counts"),
    [
        ([SPOKE, SILENT], False, "fact"),
        ([SPOKE, SPOKE], False, "fact"),
        ([SPOKE, SILENT], True, "fact"),
        ([SPOKE, SPOKE], True, "predicted"),
    ],
)
def test_what_others_would_have_heard_otherwise_is_predicted(
    theirs: list[Act], is_heard: bool, of_counts: str
) -> None:
    """Others' words are those said to the baseline, so only what is as it was is a fact."""
    rows = facts(behaviour([SPOKE, SILENT]), behaviour(theirs), is_heard=is_heard)

    assert {row.kind for row in rows} == {of_counts}


def test_what_a_model_was_not_asked_is_imputed_all_the_same() -> None:
    """Cost and latency say which answers are not known; the counts are predicted."""
    rows = facts(behaviour([SPOKE]), behaviour([IMPUTED]), is_heard=True)

    kinds = {row.name: row.kind for row in rows}
    assert kinds["model_calls"] == "predicted"
    assert kinds["cost_usd"] == "imputed"
