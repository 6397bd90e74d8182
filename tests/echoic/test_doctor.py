"""What `doctor` counts in a log."""

import pytest

from echoic.doctor import set_apart
from handlers.mind.stages import completion
from streams.session_files.memory_log import SessionLog
from tests import factories
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

    found = await set_apart(SessionLog(file_of_scenario(scenario)))

    assert found == {"invalid": 1, "failed timer of model": 1}
