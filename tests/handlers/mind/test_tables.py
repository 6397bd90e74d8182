"""Tables of the mind: each kind of message, and each purpose of a timer, has its row."""

from typing import Any, get_args, get_type_hints

import pytest
from immutables import Map

from handlers.mind.handle import ANSWERS, TIMERS, handle
from handlers.mind.stages.controls import CHECKS
from projections.folds.timers import FAILED
from schemas.codec.catalogue import INPUTS, ControlMessage
from schemas.codec.decode import read_input
from schemas.messages.results import ClockTicked
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState, PartitionState, Timer
from tests import factories

PURPOSES = get_args(get_type_hints(Timer)["purpose"])


@pytest.mark.parametrize(
    ("table", "kinds"),
    [
        (ANSWERS, set(INPUTS) - {ClockTicked}),
        (CHECKS, get_args(ControlMessage)),
        (TIMERS, PURPOSES),
        (FAILED, PURPOSES),
    ],
)
def test_each_kind_has_its_row(table: Any, kinds: Any) -> None:
    """A new one fails here until its row stands in the table."""
    assert sorted(table, key=repr) == sorted(kinds, key=repr)


def test_an_unknown_purpose_raises() -> None:
    """No timer is taken for another's."""
    unknown = Timer(due=factories.NOON, id="x", purpose="unknown")  # type: ignore[arg-type]
    agents = Map({factories.AGENT: AgentState(timers=(unknown,))})
    dusk = read_input(factories.sensor_record({"text": "dusk"}))

    with pytest.raises(KeyError, match="unknown"):
        handle(PartitionState(agents=agents), dusk, Aids(), factories.EPOCH)
