"""Rate limits of sensors, by agent and source, in the broker's time.

The generic cell rate algorithm (GCRA, ITU-T I.371): the state is one theoretical arrival
time in whole nanoseconds, the same on every machine. Each message moves it on by 1 / rate,
whatever it holds; one that would move it further ahead than the burst allows is excess,
and moves nothing.
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


def _source_of(input_: Input) -> str | None:
    """Return the source whose allowance an input uses; None if it is not limited."""
    if input_.agent == SHARED_AGENT:
        return None
    return sensor_of(input_.record.subject)


def unless_excess(
    state: AgentState, settings: MindSettings | None, input_: Input
) -> AgentState | None:
    """Return the state after an input; None if it is more than its source may send."""
    if settings is None or settings.intake is None:
        return state
    source = _source_of(input_)
    if source is None:
        return state
    before = state.intake.get(source, _FULL)
    allowance = after(before, settings.intake, input_.record.time_ns)
    if allowance is None:
        return None
    return replace(state, intake=state.intake.set(source, allowance))


def after(
    allowance: Allowance, limit: IntakeSettings, time_ns: int
) -> Allowance | None:
    """Return the allowance after one more message at `time_ns`; None if it is excess.

    An allowance further ahead than any burst could leave it means that the broker's clock
    was set back: it begins anew.
    """
    # Rounded once, so that all sums after it are of integers and exact.
    one_ns = round(_SECOND_NS / limit.rate)
    burst_ns = one_ns * limit.burst
    ahead_ns = allowance.free_at_ns - time_ns
    if not 0 < ahead_ns <= burst_ns:
        ahead_ns = 0
    if ahead_ns + one_ns > burst_ns:
        return None
    return replace(allowance, free_at_ns=time_ns + ahead_ns + one_ns)


def charged(
    state: AgentState, settings: MindSettings | None, input_: Input
) -> AgentState:
    """Return the state after a quarantined input; unchanged if charging it raises."""
    try:
        return unless_excess(state, settings, input_) or state
    except faults.OF_THE_SHELL:
        raise
    except faults.OF_AN_INPUT:
        # What made it unreadable, such as its subject, may fail here as well.
        return state


def shed(state: AgentState, input_: Input) -> AgentState:
    """Return the state after an excess input, which is counted and changes nothing else."""
    source = _source_of(input_)
    if source is None:
        return state
    before = state.intake.get(source, _FULL)
    counted = replace(before, shed=before.shed + 1)
    return replace(state, intake=state.intake.set(source, counted))


def sheds(states: Mapping[int, PartitionState], inputs: Sequence[Input]) -> list[bool]:
    """Tell which of the next inputs, in order, exceed their sources' limits.

    Called before any of them is answered, so that no aids are computed for excess ones.
    The result may be shorter than `inputs`: it ends after one that may change the limits.
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
    state: PartitionState, input_: Input, allowances: dict[tuple[str, str], Allowance]
) -> bool:
    """Tell whether an input is excess; updates its source's entry in `allowances`."""
    settings, source = state.shared.settings, _source_of(input_)
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
