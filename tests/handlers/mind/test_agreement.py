"""Agreement: how alike a model's words were to those of a heuristic it was shown."""

import pytest

from schemas.messages.decisions import Completed
from tests.handlers.mind.test_endorsement import PARAPHRASE, RealLife, known
from tests.scenario import one


@pytest.mark.parametrize("prediction", ["same", "separate"])
def test_how_alike_a_shown_heuristic_was_is_recorded(prediction: str) -> None:
    """Also where the words wait for their prediction."""
    low = known()
    scenario = RealLife(low, withhold=0.0, prediction=prediction)
    turn = scenario.said_by_model(PARAPHRASE)
    if prediction == "separate":
        turn = scenario.answer_model(turn, '{"predicted_success": 0.5}')
    end = one(turn, Completed)

    assert end.agrees_with == (low.ids[0],)
    assert end.agreement is not None
    (likeness,) = end.agreement
    assert 0.5 <= likeness < 1.0
