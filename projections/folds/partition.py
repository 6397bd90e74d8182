"""Fold one group into a partition's state: the one `evolve` of worker and replayer.

A group is folded whole. It also extends its agent's chain hash, which covers the raw
input and the raw outputs in order.
"""

from collections.abc import Sequence
from functools import partial

from immutables import Map
from msgspec.structs import replace

from projections.folds import agent as agent_fold
from projections.folds import (
    clock,
    controls,
    declared,
    goals_and_biases,
    proposals,
    rate_limits,
)
from projections.folds.executive import grants
from projections.folds.fold_context import FoldContext
from schemas.codec.decode import read_output
from schemas.codec.encode import wire_digest
from schemas.codec.envelope import Input, Output
from schemas.messages.controls import MindStarted, PackLoaded
from schemas.messages.notes import ControlApplied, Quarantined
from schemas.ports import aids as aiding
from schemas.ports.aids import Aids
from schemas.ports.faults import MissingAidsError
from schemas.state.agent import STRANGER, AgentState, PartitionState, SharedState
from schemas.values import ids
from schemas.values.record import Record
from schemas.values.subjects import SHARED_AGENT


def evolve(
    state: PartitionState,
    input_: Input,
    outputs: Sequence[Output],
    aids: Aids,
    *,
    is_chained: bool = True,
) -> PartitionState:
    """Return the state after an input and the whole group that answers it.

    Whoever only reads what a state holds may leave the chain hash as it was: it costs a
    tenth of the fold. On such a state nothing may be decided.

    Raises:
        MissingAidsError: the shell could not compute the aids that the answer used.
    """
    before = state.agents.get(input_.agent, STRANGER)
    after = _agent(before, state.shared, input_, outputs, aids)
    if not is_chained and input_.agent != SHARED_AGENT:
        return _with(state, input_, after)
    return concluded(state, input_, outputs, after, aids)


def fold_recorded(
    state: PartitionState, input_: Input, records: Sequence[Record], aids: Aids
) -> PartitionState:
    """Return the state after a group as it is recorded in the log.

    Raises:
        UnreadableOutputError: an output of the group is not in our format.
        MissingAidsError: as `evolve`.
    """
    outputs = [read_output(record) for record in records]
    return evolve(state, input_, outputs, aids)


def concluded(
    state: PartitionState,
    input_: Input,
    outputs: Sequence[Output],
    agent: AgentState,
    aids: Aids,
) -> PartitionState:
    """Return the partition's state after a group whose agent is then in state `agent`."""
    if input_.agent == SHARED_AGENT:
        shared = _shared(state.shared, input_, outputs, aids)
        agents = _reread(state, shared, aids)
        return replace(state, position=input_.sequence, shared=shared, agents=agents)
    chain = linked(agent.chain, input_, outputs)
    return _with(state, input_, replace(agent, chain=chain))


def _with(state: PartitionState, input_: Input, agent: AgentState) -> PartitionState:
    agents = state.agents.set(input_.agent, agent)
    return replace(state, position=input_.sequence, agents=agents)


def shared_after(shared: SharedState, message: object, aids: Aids) -> SharedState:
    """Return the shared state after an applied control."""
    match message:
        case MindStarted(settings=settings):
            known = goals_and_biases.goal_vectors_of(settings, aids)
            return replace(shared, settings=settings, goal_vectors=known)
        case PackLoaded():
            return replace(shared, packs=controls.packs_after(shared.packs, message))
        case _:
            return shared


def linked(chain: str, input_: Input, outputs: Sequence[Output]) -> str:
    """Return the chain hash, extended by one group."""
    # Over the bytes on the wire, not over parsed values: a replay has to repeat each byte.
    record = input_.record
    return ids.digest(
        chain.encode(),
        wire_digest(record.subject, record.headers, record.stored),
        *(
            wire_digest(
                output.record.subject, output.record.headers, output.record.stored
            )
            for output in outputs
        ),
    )


def _reread(
    state: PartitionState, shared: SharedState, aids: Aids
) -> Map[str, AgentState]:
    """Return the agents, with their beliefs recounted if the learning settings changed."""
    before, after = state.shared.settings, shared.settings
    if after is None or before is None:
        return state.agents
    if before.learning == after.learning:
        return state.agents
    agents = state.agents
    # Persistent maps are replaced, never changed: an earlier state stays valid.
    for name in sorted(agents):
        agent = agents[name]
        packs = aiding.in_force(shared, agent, aids)
        reread = proposals.reread(
            agent, packs, agent.learning(before), agent.learning(after)
        )
        agents = agents.set(name, reread)
    return agents


def _agent(
    state: AgentState,
    shared: SharedState,
    input_: Input,
    outputs: Sequence[Output],
    aids: Aids,
) -> AgentState:
    kept = next(
        (o.message for o in outputs if isinstance(o.message, Quarantined)), None
    )
    # Before anything else: an excess input must cost nothing and change no other state.
    if kept is not None and kept.reason == "rate":
        return rate_limits.shed(state, input_)
    if kept is not None:
        return rate_limits.charged(state, shared.settings, input_)
    # It was within its limit when it was answered; if it would not be here, it uses none.
    state = rate_limits.unless_excess(state, shared.settings, input_) or state
    input_ = grants.believed(state.executive, input_)
    # Only now: an input that was shed or quarantined rests on no aids.
    if aids.fault is not None:
        raise MissingAidsError(
            f"the input at {input_.sequence} was answered, and what its answer rests on"
            f" cannot be worked out here ({aids.fault}): use the program that wrote it"
        )
    try:
        state, now = agent_fold.begin(state, input_)
    except clock.ClockFaultError:
        # The mind met the same fault. A quarantined input has returned above, so this is
        # a repeat of an event that was seen before, and naturally late.
        return state
    begun = state
    input_, aids = declared.read(
        input_, aids, partial(aiding.in_force, shared, begun, aids)
    )
    context = FoldContext(shared=shared, agent=state, input=input_, aids=aids, now=now)
    for output in outputs:
        state = agent_fold.said(state, context, output.id, output.message)
    return state


def _shared(
    shared: SharedState, input_: Input, outputs: Sequence[Output], aids: Aids
) -> SharedState:
    shared = replace(shared, chain=linked(shared.chain, input_, outputs))
    if not any(isinstance(output.message, ControlApplied) for output in outputs):
        return shared
    return shared_after(shared, input_.message, aids)
