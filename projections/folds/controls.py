"""Fold an applied control into one agent's state."""

from collections.abc import Sequence

from msgspec.structs import replace

from projections.folds import biases, experiments, goals, sessions
from projections.folds.learning import heuristics
from schemas.codec.envelope import Input
from schemas.messages import controls
from schemas.packs.manifest import CompiledPack
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState, PackRef
from schemas.state.evidence import Prior
from schemas.values.settings import StrategySpec


def applied(state: AgentState, input_: Input, aids: Aids) -> AgentState:
    """Return the agent's state after an applied control; unchanged by any other message."""
    match input_.message:
        case (controls.SessionStarted() | controls.SessionEnded()) as message:
            return sessions.applied(state, message, input_)
        case controls.GoalsSet() as message:
            return goals.applied(state, message, aids)
        case controls.StrategySelected() as message:
            spec = StrategySpec(name=message.strategy, parameters=message.parameters)
            return replace(state, strategy=spec)
        case (controls.ExperimentStarted() | controls.ExperimentStopped()) as message:
            return experiments.applied(state, message, state.now or input_.at)
        case controls.PriorUpdated() as message:
            return _prior_updated(state, message)
        case controls.ProfileSet() as message:
            return biases.applied(state, message)
        case controls.PackLoaded() as message:
            ref = pack_ref(message)
            return replace(state, packs=state.packs.set(ref.name, ref))
        case controls.HeuristicSeeded() as message:
            return heuristics.seeded(state, message, aids, input_.id)
        case controls.HeuristicEdited() as message:
            return heuristics.edited(state, message, aids)
        case _:
            return state


def pack_ref(message: controls.PackLoaded) -> PackRef:
    """Return the reference to the pack that a load puts in force."""
    return PackRef(
        name=message.name, version=message.pack_version, digest=message.digest
    )


def _prior_updated(state: AgentState, message: controls.PriorUpdated) -> AgentState:
    if message.is_default:
        known = message.origin in state.priors
        priors = state.priors.delete(message.origin) if known else state.priors
    else:
        prior = Prior(kappa=message.kappa, mean=message.mean)
        priors = state.priors.set(message.origin, prior)
    return replace(state, priors=priors)


def content_in_force(
    state: AgentState, packs: Sequence[CompiledPack], heuristic_id: str
) -> str | None:
    """Return the content hash of a heuristic in force; None if there is none."""
    # Taught heuristics first: an id of a pack that was taught again hides the pack's.
    taught = heuristics.find(state, heuristic_id)
    if taught is not None:
        return taught.content_hash
    for pack in packs:
        row = pack.row_of(heuristic_id)
        if row is not None:
            return pack.content_hashes[row]
    return None


def action(
    state: AgentState, packs: Sequence[CompiledPack], heuristic_id: str
) -> controls.Action | None:
    """Return the action of a heuristic in force; None if it has only a text."""
    taught = heuristics.find(state, heuristic_id)
    if taught is not None:
        return taught.action
    for pack in packs:
        row = pack.row_of(heuristic_id)
        if row is not None:
            return pack.pack.heuristics[row].action.action
    return None
