"""How often a sensor may speak: an allowance by agent and source, in the broker's time.

The generic cell rate algorithm: an allowance is one instant in whole nanoseconds, so it
comes out the same on every machine. Each message that a sensor published moves it on by
the time that one message stands for, whatever the message holds; what would move it
further ahead than the burst allows is excess, and moves nothing.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted
from schemas.ports import faults
from schemas.state.agent import STRANGER, AgentState, Allowance, PartitionState
from schemas.values.settings import IntakeSettings, MindSettings
from schemas.values.subjects import SHARED_AGENT, sensor_of

_SECOND_NS = 1_000_000_000
_FULL = Allowance()


def source_of(input_: Input) -> str | None:
    """Whose allowance an input counts on; None if it counts on nobody's."""
    if input_.agent == SHARED_AGENT:
        return None
    return sensor_of(input_.record.subject)


def is_excess(state: AgentState, settings: MindSettings | None, input_: Input) -> bool:
    """Tell whether an input is more than its source may send; `state` is before it."""
    if settings is None or settings.intake is None:
        return False
    source = source_of(input_)
    if source is None:
        return False
    allowance = state.intake.get(source, _FULL)
    return after(allowance, settings.intake, input_.record.time_ns) is None


def after(
    allowance: Allowance, limit: IntakeSettings, time_ns: int
) -> Allowance | None:
    """Return the allowance after one more message; None if that is too many.

    A broker whose clock was put back finds an allowance that no burst could have left:
    it begins anew.
    """
    one_ns = round(_SECOND_NS / limit.rate)
    burst_ns = one_ns * limit.burst
    ahead_ns = allowance.free_at_ns - time_ns
    if not 0 < ahead_ns <= burst_ns:
        ahead_ns = 0
    if ahead_ns + one_ns > burst_ns:
        return None
    return replace(allowance, free_at_ns=time_ns + ahead_ns + one_ns)


def admitted(
    state: AgentState, settings: MindSettings | None, input_: Input
) -> AgentState:
    """Return the state after an input that was not too many."""
    if settings is None or settings.intake is None:
        return state
    source = source_of(input_)
    if source is None:
        return state
    before = state.intake.get(source, _FULL)
    allowance = after(before, settings.intake, input_.record.time_ns) or before
    return replace(state, intake=state.intake.set(source, allowance))


def charged(
    state: AgentState, settings: MindSettings | None, input_: Input
) -> AgentState:
    """Return the state after an input that was kept apart; as it was if charging it raises."""
    try:
        return admitted(state, settings, input_)
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT:
        return state


def shed(state: AgentState, input_: Input) -> AgentState:
    """Return the state after an input that was too many: it is counted, and that is all."""
    source = source_of(input_)
    if source is None:
        return state
    before = state.intake.get(source, _FULL)
    counted = replace(before, shed=before.shed + 1)
    return replace(state, intake=state.intake.set(source, counted))


def sheds(states: Mapping[int, PartitionState], inputs: Sequence[Input]) -> list[bool]:
    """Return which of the next inputs, in order, are more than their sources may send.

    Known before any of them is answered, so that nothing is worked out for these. It ends
    behind an input that may change what sources may send.
    """
    found: list[bool] = []
    allowances: dict[tuple[str, str], Allowance] = {}
    for input_ in inputs:
        state = states[input_.partition]
        found.append(_is_shed(state, input_, allowances))
        if isinstance(input_.message, MindStarted):
            break
    return found


def _is_shed(
    state: PartitionState,
    input_: Input,
    allowances: dict[tuple[str, str], Allowance],
) -> bool:
    """Tell whether an input is too many; `allowances` go on with it."""
    settings, source = state.shared.settings, source_of(input_)
    if settings is None or settings.intake is None or source is None:
        return False
    key = input_.agent, source
    before = allowances.get(key)
    if before is None:
        agent = state.agents.get(input_.agent, STRANGER)
        before = agent.intake.get(source, Allowance())
    moved_on = after(before, settings.intake, input_.record.time_ns)
    allowances[key] = moved_on or before
    return moved_on is None
