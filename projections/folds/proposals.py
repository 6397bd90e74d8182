"""Proposals: changes of an agent's settings or heuristics, to be applied and reverted.

Applied settings become the agent's own, and every belief is recounted from its evidence.
The proposal keeps what was in force before, so that reverting restores it exactly.

A heuristic that goes is frozen by hand for the agent; one that comes is formed by a message
of its own. Evidence on either stays, since it belongs to a content.
"""

from collections.abc import Callable, Sequence

from immutables import Map
from msgspec.structs import replace

from projections.folds import goals_and_biases
from projections.folds.characters import persona
from projections.folds.fold_context import Origin
from projections.folds.learning import beliefs, heuristics
from projections.folds.learning.heuristics import content_in_force
from schemas.messages.controls import ProposalApplied, ProposalReverted
from schemas.messages.learning import (
    CharacterChange,
    Inferred,
    ProposalMade,
    SettingChange,
)
from schemas.messages.repertoire import RepertoireChange, Stand
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.autonomy import Autonomy
from schemas.state.evidence import Belief
from schemas.state.proposals import Overrides, Proposal
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import MindSettings
from schemas.values.settings_by_name import LEARNING, learning_with, strategy_with
from schemas.values.unicode_text import quoted
from schemas.values.vectors import Vector


def find(state: AgentState, proposal_id: str) -> Proposal | None:
    """Return the proposal of this id."""
    return next((each for each in state.proposals if each.id == proposal_id), None)


def newest_applied(state: AgentState) -> Proposal | None:
    """Return the proposal of settings in force that was applied last; None if none is."""
    of_settings = (
        each
        for each in state.proposals
        if each.repertoire is None and each.inferred is None and each.character is None
    )
    applied = [each for each in of_settings if each.status == "applied"]
    return max(applied, key=lambda each: each.place, default=None)


def made(
    state: AgentState, message: ProposalMade, place: int, aids: Aids
) -> AgentState:
    """Return the state with one more proposal, applied at once if a policy says so."""
    change = message.repertoire
    proposal = Proposal(
        id=message.proposal_id,
        changes=message.changes,
        evidence=message.evidence,
        figures=Map(message.figures),
        by=message.by,
        repertoire=change,
        vectors=_vectors(change, message.inferred, aids),
        inferred=message.inferred,
        character=message.character,
    )
    if message.character is not None and message.applied:
        proposal = replace(proposal, status="applied", place=place)
        state = _changed(state, persona.applied, message.character)
    if change is not None and message.applied:
        proposal = replace(proposal, status="applied", place=place)
        state = _change_applied(state, change)
    return replace(state, proposals=_bounded((*state.proposals, proposal)))


def applied(state: AgentState, message: ProposalApplied, origin: Origin) -> AgentState:
    """Return the state under a proposal that this input applies."""
    context = origin.context
    place, settings = context.input.sequence, context.settings
    proposal = find(state, message.proposal_id)
    if proposal is None:
        return state
    change = proposal.repertoire
    if change is not None:
        proposal = replace(proposal, status="applied", place=place)
        return _change_applied(_with(state, proposal), change)
    if proposal.inferred is not None:
        # The control that is inferred from it follows, and finds the goal's vector here.
        known = _with(state, replace(proposal, status="applied", place=place))
        return goals_and_biases.known(
            known, proposal.inferred.goal, proposal.vectors[0]
        )
    if proposal.character is not None:
        state = _with(state, replace(proposal, status="applied", place=place))
        return _changed(state, persona.applied, proposal.character)
    before, after = in_force(state), proposed(state, proposal.changes, settings)
    proposal = replace(
        proposal, status="applied", place=place, before=before, after=after
    )
    return _going_by(_with(state, proposal), after, settings, context.packs)


def reverted(
    state: AgentState, message: ProposalReverted, origin: Origin
) -> AgentState:
    """Return the state under what was in force before a proposal."""
    proposal = find(state, message.proposal_id)
    if proposal is None:
        return state
    state = _with(state, replace(proposal, status="reverted"))
    if proposal.repertoire is not None:
        return _change_reverted(state, proposal.repertoire)
    if proposal.inferred is not None:
        return state
    if proposal.character is not None:
        return _changed(state, persona.reverted, proposal.character)
    assert proposal.before is not None
    context = origin.context
    return _going_by(state, proposal.before, context.settings, context.packs)


def in_force(state: AgentState) -> Overrides:
    """Return the agent's own overrides of the settings."""
    return Overrides(strategy=state.strategy, tuned=state.tuned)


def proposed(
    state: AgentState, changes: Sequence[SettingChange], settings: MindSettings
) -> Overrides:
    """Return the agent's overrides with these changes applied to them.

    Raises:
        TuningError: a learning setting is out of its range.
    """
    values = {each.name: each.after for each in changes}
    learnt = {name: value for name, value in values.items() if name in LEARNING}
    others = {name: value for name, value in values.items() if name not in LEARNING}
    strategy, tuned = state.strategy, state.tuned
    if others:
        strategy = strategy_with(strategy or settings.strategy, others)
    if learnt:
        tuned = learning_with(state.learning(settings), learnt)
    return Overrides(strategy=strategy, tuned=tuned)


def _change_applied(state: AgentState, change: RepertoireChange) -> AgentState:
    """Return the state with the heuristics that go frozen."""
    frozen = state.frozen
    for each in change.going:
        frozen = frozen.set(each.heuristic_id, True)
    return replace(state, frozen=frozen)


def _change_reverted(state: AgentState, change: RepertoireChange) -> AgentState:
    """Return the state with the frozen heuristics released and the formed one removed."""
    frozen = state.frozen
    for each in change.going:
        frozen = frozen.delete(each.heuristic_id)
    state = replace(state, frozen=frozen)
    if change.formed is None:
        return state
    return heuristics.forgotten(state, change.formed.heuristic_id)


def outdated(
    state: AgentState, packs: Sequence[CompiledPack], change: RepertoireChange
) -> str | None:
    """Return why a change cannot be applied any more; None if it can."""
    for each in change.before:
        if not _is_same(state, packs, each):
            return f"{quoted(each.name)} is not what it was"
        if each.heuristic_id in state.frozen:
            return f"{quoted(each.name)} is frozen"
    formed = change.formed
    if formed is not None and state.taught(formed.heuristic_id) is not None:
        return f"{quoted(formed.name)} is there already"
    return None


def moved_on(
    state: AgentState, packs: Sequence[CompiledPack], change: RepertoireChange
) -> str | None:
    """Return why a change cannot be reverted any more; None if it can."""
    for each in change.going:
        if not _is_same(state, packs, each) or each.heuristic_id not in state.frozen:
            return f"{quoted(each.name)} was changed or released since"
    if change.formed is not None and not _is_same(state, packs, change.after[-1]):
        return f"{quoted(change.formed.name)} was edited since"
    return None


def _changed(
    state: AgentState,
    how: Callable[[Autonomy, CharacterChange], Autonomy],
    change: CharacterChange,
) -> AgentState:
    autonomy = how(state.character.autonomy, change)
    return replace(state, character=replace(state.character, autonomy=autonomy))


def _going_by(
    state: AgentState,
    overrides: Overrides,
    settings: MindSettings,
    packs: Sequence[CompiledPack],
) -> AgentState:
    # Read before the overrides change: beliefs are recounted from these to the new ones.
    learning = state.learning(settings)
    state = replace(state, strategy=overrides.strategy, tuned=overrides.tuned)
    return reread(state, packs, learning, state.learning(settings))


def reread(
    state: AgentState,
    packs: Sequence[CompiledPack],
    before: LearningSettings,
    after: LearningSettings,
) -> AgentState:
    """Return the state with every belief and fit recounted under other settings."""
    if before == after:
        return state

    def recounted(believed: Map[str, Belief]) -> Map[str, Belief]:
        found = {}
        # Of contents that were edited too: an outcome may still come for them.
        for key in sorted(believed):
            # From the right: a heuristic id is free text and may hold an `@`.
            its = beliefs.terms_of(state, packs, key.rpartition("@")[0])
            found[key] = beliefs.relearnt(believed[key], before, after, its)
        return Map(found)

    return replace(state, beliefs=recounted(state.beliefs), fits=recounted(state.fits))


def _vectors(
    change: RepertoireChange | None, inferred: Inferred | None, aids: Aids
) -> tuple[Vector, Vector]:
    if inferred is not None:
        return aids.of(inferred.goal) or b"", b""
    formed = change.formed if change is not None else None
    if formed is None:
        return b"", b""
    return aids.of(formed.condition) or b"", aids.of(formed.text) or b""


def _with(state: AgentState, proposal: Proposal) -> AgentState:
    """Return the state with a proposal replaced by its new version."""
    proposals = tuple(
        proposal if each.id == proposal.id else each for each in state.proposals
    )
    return replace(state, proposals=proposals)


def _bounded(proposals: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
    if len(proposals) <= limits.PROPOSALS:
        return proposals
    # One in force is kept as long as possible, since it knows how to revert itself.
    idle = (each for each in proposals if each.status != "applied")
    gone = next(idle, proposals[0])
    # The newest is idle too, but it must not push itself out.
    gone = proposals[0] if gone is proposals[-1] else gone
    return tuple(each for each in proposals if each is not gone)


def _is_same(state: AgentState, packs: Sequence[CompiledPack], stand: Stand) -> bool:
    content_hash = content_in_force(state, packs, stand.heuristic_id)
    return content_hash == stand.content_hash
