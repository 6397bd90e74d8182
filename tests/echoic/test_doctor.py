"""What `doctor` counts in a log."""

from pathlib import Path

import pytest

from echoic.config.load import load
from echoic.doctor import _set_apart, of_instance
from handlers.mind.stages import completion
from streams.session_files.memory_log import SessionLog
from tests import factories
from tests.ports import free_port
from tests.replay.scenarios import file_of_scenario
from tests.scenario import Scenario


async def test_quarantine_and_failed_timers_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both are faults that the log keeps, by reason and by purpose."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    scenario = Scenario(model=factories.MODEL)
    scenario.may_fail = True
    scenario.sense("odd", urgency=9)
    scenario.sense("zombies at the door", salience={"threat": 0.9})
    monkeypatch.setattr(completion, "given_up", fail)
    scenario.wait(200).sense("quiet", immediate=False)

    found = await _set_apart(SessionLog(file_of_scenario(scenario)))

    assert found == {"invalid": 1, "failed timer of model": 1}


async def test_a_model_that_nobody_tried_is_not_ticked(tmp_path: Path) -> None:
    """Without an instance it says where the model would be, and not that it is there."""
    pytest.importorskip("litellm", reason="the extra `model` is not installed")
    address = f"http://127.0.0.1:{free_port()}/v1"
    variables = {"ECHOIC_MODEL_NAME": "openai/x", "ECHOIC_MODEL_API_BASE": address}
    settings = load({"data": str(tmp_path)}, environment=variables, folder=tmp_path)

    [model] = [each for each in await of_instance(settings) if each.name == "model"]

    assert model.verdict == "notice"
    assert model.found == f"openai/x at {address}: not tried, as no instance answers"
    assert model.advice == "echoic up --detach; echoic doctor"
