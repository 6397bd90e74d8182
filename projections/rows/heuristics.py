"""Rows of heuristics: those of the packs in force and those taught, for each agent.

A heuristic that a newer version of its pack no longer has stays as a row out of force.
"""

from collections.abc import Iterator

from immutables import Map

from projections.folds import proposals as proposals_fold
from projections.folds.learning.heuristics import content_in_force
from projections.rows import confidence_changes, heuristics_contents
from projections.rows.changes import Change, Patch, Put, Row
from projections.rows.folded_group import Folded, Step
from schemas.codec.envelope import Output
from schemas.messages.controls import (
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    ProposalApplied,
    ProposalReverted,
)
from schemas.messages.learning import HeuristicFormed
from schemas.messages.repertoire import RepertoireChange
from schemas.packs.compiled import CompiledPack
from schemas.ports import aids as aiding
from schemas.state.agent import AgentState, PackRef, SharedState
from schemas.state.evidence import Belief, belief_key
from schemas.state.taught import Taught
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings import UNSTARTED


def packs_changed(folded: Folded) -> list[Change]:
    """Return the pack heuristics that came into or went out of force for this agent."""
    before = folded.agent_before.packs
    if not folded.is_new and folded.agent.packs is before:
        return []
    # A new agent has no rows yet, not even of the packs that everybody shares.
    known = Map[str, PackRef]() if folded.is_new else folded.before.shared.packs
    return list(_replaced(folded, folded.name, folded.agent, known.update(before)))


def shared_changed(folded: Folded) -> list[Change]:
    """Return what a control on the whole partition changes, for each known agent."""
    before, after = folded.before.shared, folded.after.shared
    changes: list[Change] = []
    for name in sorted(folded.after.agents):
        agent = folded.after.agents[name]
        if after.packs is not before.packs:
            known = before.packs.update(agent.packs)
            changes += _replaced(folded, name, agent, known)
        if _learning(after) != _learning(before):
            changes += _reassessed(folded, name, agent)
    return changes


def tuned(folded: Folded) -> list[Change]:
    """Return all heuristics of the agent if its learning settings or priors changed."""
    before = folded.agent_before
    if folded.agent.tuned == before.tuned and folded.agent.priors == before.priors:
        return []
    return list(_reassessed(folded, folded.name, folded.agent))


def taught(folded: Folded, step: Step) -> Iterator[Change]:
    """Yield what a control on one heuristic changes."""
    match folded.input.message:
        case HeuristicSeeded() as message:
            yield from _seeded(folded, step, message)
        case HeuristicEdited() as message:
            yield from _edited(folded, step, message)
        case HeuristicFrozen() as message:
            yield from _frozen(folded, step, message.heuristic_id)
        case ProposalApplied(proposal_id=id_) | ProposalReverted(proposal_id=id_):
            proposal = proposals_fold.find(step.after, id_)
            if proposal is not None and proposal.repertoire is not None:
                yield from changed(folded, step, proposal.repertoire)
        case _:
            pass


def changed(folded: Folded, step: Step, change: RepertoireChange) -> Iterator[Change]:
    """Yield the heuristics that a proposal froze, released, or took out of force."""
    for each in change.going:
        yield from _frozen(folded, step, each.heuristic_id)
    formed = change.formed
    if formed is None or step.before.taught(formed.heuristic_id) is None:
        return
    yield Patch("heuristics", (folded.name, formed.heuristic_id), {"in_force": False})


def formed(folded: Folded, step: Step, message: HeuristicFormed) -> Iterator[Change]:
    """Yield the heuristic that was formed from a model's answer."""
    heuristic = step.after.taught(message.heuristic_id)
    if heuristic is not None:
        yield from _begun(folded, step, heuristic, "formed")


def beliefs_changed(folded: Folded) -> Iterator[Change]:
    """Yield the heuristics that this group fired or credited, with their new belief."""
    before, after = folded.agent_before.beliefs, folded.agent.beliefs
    if after is before:
        return
    for heuristic_id in _touched(folded.outputs):
        content_hash = content_in_force(folded.agent, folded.packs, heuristic_id)
        # Evidence on an earlier content changes the present one only if the edit carried
        # the evidence over.
        key = belief_key(heuristic_id, content_hash or "")
        held = after.get(key)
        if content_hash is None or held is None or held is before.get(key):
            continue
        values = _standing(folded, folded.agent, heuristic_id, content_hash)
        yield Patch("heuristics", (folded.name, heuristic_id), values)


def _touched(outputs: tuple[Output, ...]) -> dict[str, None]:
    """Return the ids of the heuristics that a group's outputs name, each once, in order."""
    named = (getattr(output.message, "heuristic_id", None) for output in outputs)
    return {id_: None for id_ in named if id_}


def _seeded(folded: Folded, step: Step, message: HeuristicSeeded) -> Iterator[Change]:
    heuristic = step.after.taught(message.heuristic_id)
    if heuristic is not None:
        yield from _begun(folded, step, heuristic, "seed")


def _begun(folded: Folded, step: Step, heuristic: Taught, why: str) -> Iterator[Change]:
    held = _belief_of(step, step.after, heuristic)
    yield _taught_row(folded, step.after, heuristic)
    yield confidence_changes.declared(
        folded,
        step.output,
        (heuristic.heuristic_id, heuristic.content_hash),
        held,
        why=why,
        detail=heuristic.name,
    )


def _edited(folded: Folded, step: Step, message: HeuristicEdited) -> Iterator[Change]:
    heuristic = step.after.taught(message.heuristic_id)
    earlier = step.before.taught(message.heuristic_id)
    if heuristic is None or earlier is None:
        return
    held = _belief_of(step, step.after, heuristic)
    yield _taught_row(folded, step.after, heuristic)
    # A new name or urgency is no new content, and moves no confidence.
    if heuristic.content_hash == earlier.content_hash:
        return
    yield confidence_changes.declared(
        folded,
        step.output,
        (heuristic.heuristic_id, heuristic.content_hash),
        held,
        why="edit",
        detail=heuristic.name,
        before=_belief_of(step, step.before, earlier).confidence,
    )


def _frozen(folded: Folded, step: Step, heuristic_id: str) -> Iterator[Change]:
    content = content_in_force(step.after, folded.packs, heuristic_id)
    if content is None:
        return
    values = _standing(folded, step.after, heuristic_id, content)
    yield Patch("heuristics", (folded.name, heuristic_id), values)
    before, after = (
        step.context.belief(agent, heuristic_id, content)
        for agent in (step.before, step.after)
    )
    if after.trials != before.trials:
        yield confidence_changes.declared(
            folded,
            step.output,
            (heuristic_id, content),
            after,
            why="revive",
            detail="a new trial",
            before=before.confidence,
        )


def _replaced(
    folded: Folded, name: str, agent: AgentState, known: Map[str, PackRef]
) -> Iterator[Change]:
    """Yield the heuristics of packs whose version differs from the one known before."""
    refs = folded.after.shared.packs.update(agent.packs)
    for pack_name in sorted(refs):
        ref, earlier = refs[pack_name], known.get(pack_name)
        # The reference holds a digest: an equal one has the very same heuristics.
        if ref == earlier:
            continue
        pack = aiding.pack(ref, folded.aids)
        if earlier is not None:
            yield from _gone(folded, name, pack, earlier)
        yield from _pack_rows(folded, name, agent, pack)


def _gone(
    folded: Folded, name: str, pack: CompiledPack, earlier: PackRef
) -> Iterator[Change]:
    """Yield the heuristics of the earlier version that the new one lacks."""
    for heuristic_id in aiding.pack(earlier, folded.aids).ids:
        if pack.row_of(heuristic_id) is None:
            yield Patch("heuristics", (name, heuristic_id), {"in_force": False})


def _pack_rows(
    folded: Folded, name: str, agent: AgentState, pack: CompiledPack
) -> Iterator[Change]:
    """Yield the heuristics of a pack that came into force, with their first confidence."""
    packs, learning = _packs(folded, agent), agent.learning(folded.settings)
    detail = f"{pack.pack.name} {pack.pack.version}"
    contents = zip(pack.ids, pack.content_hashes, strict=True)
    for content, of_pack in zip(
        contents, heuristics_contents.of_pack(pack), strict=True
    ):
        standing = heuristics_contents.standing(agent, packs, learning, *content)
        columns: Row = {
            **of_pack,
            **standing,
            "embedder": folded.settings.embedder,
            "created_at": folded.now_of(agent),
            "created_by": folded.input.sequence,
        }
        yield Put("heuristics", (name, content[0]), columns)
        yield confidence_changes.of_pack(folded, name, content, standing, detail)


def _reassessed(folded: Folded, name: str, agent: AgentState) -> Iterator[Change]:
    """Yield the belief in every heuristic of an agent, as other settings make it."""
    for heuristic_id, content_hash in _contents(folded, agent):
        values = _standing(folded, agent, heuristic_id, content_hash)
        yield Patch("heuristics", (name, heuristic_id), values)


def _contents(folded: Folded, agent: AgentState) -> Iterator[tuple[str, str]]:
    """Yield id and content hash of every heuristic in force for an agent."""
    for pack in _packs(folded, agent):
        yield from zip(pack.ids, pack.content_hashes, strict=True)
    for domain in sorted(agent.shelves):
        taught_here = agent.shelves[domain].heuristics
        for id_ in sorted(taught_here):
            yield id_, taught_here[id_].content_hash


def _standing(
    folded: Folded, agent: AgentState, heuristic_id: str, content_hash: str
) -> Row:
    packs, learning = _packs(folded, agent), agent.learning(folded.settings)
    return heuristics_contents.standing(
        agent, packs, learning, heuristic_id, content_hash
    )


def _packs(folded: Folded, agent: AgentState) -> tuple[CompiledPack, ...]:
    return aiding.in_force(folded.after.shared, agent, folded.aids)


def _taught_row(folded: Folded, agent: AgentState, heuristic: Taught) -> Put:
    row: Row = {
        **heuristics_contents.of_taught(heuristic),
        **_standing(folded, agent, heuristic.heuristic_id, heuristic.content_hash),
        "embedder": folded.settings.embedder,
        "created_at": folded.now,
        "created_by": folded.input.sequence,
    }
    return Put("heuristics", (folded.name, heuristic.heuristic_id), row)


def _belief_of(step: Step, agent: AgentState, heuristic: Taught) -> Belief:
    return step.context.belief(agent, heuristic.heuristic_id, heuristic.content_hash)


def _learning(shared: SharedState) -> LearningSettings:
    return (shared.settings or UNSTARTED).learning
