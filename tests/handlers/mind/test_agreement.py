"""Agreement: how alike a model's words were to those of a heuristic it was shown."""

import pytest

from schemas.messages.decisions import Completed
from tests.handlers.mind.test_endorsement import PARAPHRASE, RealLife, known
from tests.scenario import one


@pytest.mark.parametrize("prediction", ["same", "separate"])
def test_how_alike_a_shown_heuristic_was_is_recorded(prediction: str) -> None:
    """From the second edition on, also where the words wait for their prediction."""
    low = known()
    ends = {}
    for edition in (1, 2):
        scenario = RealLife(low, withhold=0.0, prediction=prediction, edition=edition)
        turn = scenario.said_by_model(PARAPHRASE)
        if prediction == "separate":
            turn = scenario.answer_model(turn, '{"predicted_success": 0.5}')
        ends[edition] = one(turn, Completed)

    assert ends[1].agreement is None
    assert ends[1].agrees_with == ends[2].agrees_with == (low.ids[0],)
    assert ends[2].agreement is not None
    (likeness,) = ends[2].agreement
    assert 0.5 <= likeness < 1.0
