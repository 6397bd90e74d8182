"""Heuristics that an agent was taught or formed itself, and which are frozen by hand.

They stand in the state on one shelf a domain; those of packs stay in their packs.
"""

from collections.abc import Iterator, Sequence

import orjson
from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.arms import HeuristicContent
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen, HeuristicSeeded
from schemas.messages.learning import HeuristicFormed
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids
from schemas.state.agent import AgentState
from schemas.state.evidence import belief_key
from schemas.state.taught import Shelf, Taught
from schemas.values import ids
from schemas.values.vectors import Vector


def all_heuristics(
    state: AgentState, packs: Sequence[CompiledPack]
) -> Iterator[Taught]:
    """Yield every heuristic in force for an agent: its packs', then those it was taught."""
    for pack in packs:
        yield from pack.heuristics
    for domain in sorted(state.shelves):
        shelf = state.shelves[domain].heuristics
        yield from (shelf[id_] for id_ in sorted(shelf))


def find(
    state: AgentState, packs: Sequence[CompiledPack], heuristic_id: str
) -> Taught | None:
    """Return the heuristic in force of this id; None if there is none."""
    # Taught heuristics first: an id of a pack that was taught again hides the pack's.
    taught = state.taught(heuristic_id)
    if taught is not None:
        return taught
    rows = ((pack, pack.row_of(heuristic_id)) for pack in packs)
    return next((pack.heuristics[row] for pack, row in rows if row is not None), None)


def content_in_force(
    state: AgentState, packs: Sequence[CompiledPack], heuristic_id: str
) -> str | None:
    """Return the content hash of a heuristic in force; None if there is none."""
    found = find(state, packs, heuristic_id)
    return found.content_hash if found is not None else None


def seeded(state: AgentState, message: HeuristicSeeded, origin: Origin) -> AgentState:
    """Return the state with the heuristic that a person taught by this control."""
    heuristic = Taught(
        **HeuristicContent.taken(message),
        urgency=message.urgency,
        content_hash=content_hash(message),
        vector=origin.aids.vector or b"",
        action_vector=origin.aids.of(message.text) or b"",
        since=state.now,
        origin_id=origin.id,
    )
    return _put(state, replace(heuristic, when=message.when or None))


def formed(
    state: AgentState,
    message: HeuristicFormed,
    aids: Aids,
    kept: tuple[Vector, Vector] = (b"", b""),
) -> AgentState:
    """Return the state with a heuristic formed from a model's answer.

    `kept` are the vectors of condition and text that were computed earlier, if any.
    """
    return _put(
        state,
        Taught(
            **HeuristicContent.taken(message),
            urgency=0.0,
            content_hash=content_hash(message),
            vector=aids.of(message.condition) or kept[0],
            action_vector=aids.of(message.text) or kept[1],
            origin=message.origin,
            since=state.now,
            is_silence=message.is_silence,
            origin_id=message.decision_id,
        ),
    )


def forgotten(state: AgentState, heuristic_id: str) -> AgentState:
    """Return the state without a heuristic.

    Its belief stays, and counts again if the same content is taught once more.
    """
    held = state.taught(heuristic_id)
    assert held is not None
    left = state.shelves[held.domain].heuristics.delete(heuristic_id)
    if left:
        return replace(state, shelves=state.shelves.set(held.domain, Shelf(left)))
    # An empty shelf is removed, so that the state is the one before it was made.
    return replace(state, shelves=state.shelves.delete(held.domain))


def edited(state: AgentState, message: HeuristicEdited, origin: Origin) -> AgentState:
    """Return the state with a heuristic changed; `keep` carries its belief over."""
    held = state.taught(message.heuristic_id)
    if held is None:
        return state
    aids = origin.aids
    vector = aids.vector if message.condition else None
    says = message.text or held.text
    changed = replace(
        held,
        name=message.name or held.name,
        condition=message.condition or held.condition,
        when=held.when if message.when is None else message.when or None,
        text=says,
        action=message.action or held.action,
        vector=held.vector if vector is None else vector,
        action_vector=(aids.of(says) or b"") if message.text else held.action_vector,
    )
    changed = replace(changed, content_hash=content_hash(changed))
    state = _put(state, changed)
    return _carried(state, held, changed) if message.keep else state


def frozen(state: AgentState, message: HeuristicFrozen) -> AgentState:
    """Return the state with a heuristic frozen by hand, or released."""
    if message.frozen:
        return replace(state, frozen=state.frozen.set(message.heuristic_id, True))
    if message.heuristic_id not in state.frozen:
        return state
    return replace(state, frozen=state.frozen.delete(message.heuristic_id))


def content_hash(of: HeuristicContent) -> str:
    """Return the hash of a heuristic's content, to which its evidence belongs.

    Another condition, `when`, text or action is another content, and starts anew.
    """
    # Keys are sorted: the hash must not depend on the order in which a client sent them.
    action = of.action.as_fields() if of.action is not None else None
    content = [of.condition, of.when, of.text, action]
    return ids.digest(orjson.dumps(content, option=orjson.OPT_SORT_KEYS))


def _carried(state: AgentState, old: Taught, new: Taught) -> AgentState:
    """Return the state with the old content's evidence copied to the new content."""
    was, key = (belief_key(each.heuristic_id, each.content_hash) for each in (old, new))
    belief, fit = state.beliefs.get(was), state.fits.get(was)
    if belief is not None:
        state = replace(state, beliefs=state.beliefs.set(key, belief))
    # What people said of a condition says nothing of another one.
    if fit is None or (new.condition, new.when) != (old.condition, old.when):
        return state
    return replace(state, fits=state.fits.set(key, fit))


def _put(state: AgentState, heuristic: Taught) -> AgentState:
    # An id is unique in the agent: taught again for another domain, it moves there.
    shelves, held = state.shelves, state.taught(heuristic.heuristic_id)
    if held is not None and held.domain != heuristic.domain:
        left = shelves[held.domain].heuristics.delete(held.heuristic_id)
        shelves = shelves.set(held.domain, Shelf(left))
    shelf = shelves.get(heuristic.domain, Shelf())
    shelf = Shelf(shelf.heuristics.set(heuristic.heuristic_id, heuristic))
    return replace(state, shelves=shelves.set(heuristic.domain, shelf))
