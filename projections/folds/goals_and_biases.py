"""Goals and personality biases: which of them count for an event.

The goals are the agent's own, else those of the settings, and those of the event's domain.
With `goals.choose` only the few nearest to the event count, unless none is near enough.

Biases are personality as small adjustments of decisions. In order of precedence: the
agent's own for a domain, its own for all, the pack's of that domain, the settings'. Each is
limited to `MOST_BIAS`. Where a personality template is in force, its own biases are the
only ones.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from immutables import Map
from msgspec.structs import replace

from projections.folds.executive import facts, templates
from projections.folds.fold_context import Origin
from schemas.messages.controls import GoalsSet, ProfileSet
from schemas.messages.decisions import RelevantGoal
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids, embedded
from schemas.state import limits
from schemas.state.agent import AgentState, SharedState
from schemas.values import vectors
from schemas.values.exact_math import clamp
from schemas.values.personality import MOST_BIAS
from schemas.values.settings import MindSettings
from schemas.values.vectors import Vector

_NO_BIASES: Mapping[str, float] = {}


def own_goals(state: AgentState, settings: MindSettings) -> tuple[str, ...]:
    """Return the goals that count for every event."""
    return settings.goals if state.goals is None else state.goals


def goals_of_domain(
    state: AgentState, settings: MindSettings, domain: str
) -> tuple[str, ...]:
    """Return the goals that may count for a domain's events, each once."""
    always = own_goals(state, settings)
    further = state.domain_goals.get(domain)
    return always if not further else tuple(dict.fromkeys((*always, *further)))


def possible_goals(state: AgentState, settings: MindSettings) -> tuple[str, ...]:
    """Return a description of which further goals a model may be told, by domain.

    Empty while no domain has goals of its own and none are chosen.
    """
    parts: list[str] = []
    for domain in sorted(state.domain_goals):
        parts += [f"goals/{domain}", *state.domain_goals[domain]]
    if settings.goals_choose:
        parts.append(f"choose/{settings.goals_choose}")
    return tuple(parts)


def relevant_goals(
    state: AgentState,
    shared: SharedState,
    settings: MindSettings,
    goals: Sequence[str],
    vector: Vector | None,
) -> tuple[RelevantGoal, ...] | None:
    """Return the goals nearest to an event, nearest first; None if all of them count."""
    if (
        vector is None
        or len(goals) <= settings.goals_choose
        or not settings.goals_choose
    ):
        return None
    limit = settings.limits.goal
    near = [
        RelevantGoal(text=goal, similarity=similarity)
        for goal in goals
        if (similarity := _likeness(state, shared, goal, vector)) >= limit
    ]
    # Ties by text, so that the order is the same on every machine.
    near.sort(key=lambda each: (-each.similarity, each.text))
    return tuple(near[: settings.goals_choose]) or None


def known(state: AgentState, goal: str, vector: Vector) -> AgentState:
    """Return the state that has the vector of a goal which is to be set."""
    if not goal or not vector:
        return state
    kept = state.goal_vectors.set(embedded(goal), vector)
    return replace(state, goal_vectors=kept)


def goals_set(state: AgentState, message: GoalsSet, origin: Origin) -> AgentState:
    """Return the state with these goals, of the agent or of one domain."""
    if message.domain is None:
        state = replace(state, goals=message.goals)
    else:
        state = replace(state, domain_goals=_with(state.domain_goals, message))
    texts = (*(state.goals or ()), *chain.from_iterable(state.domain_goals.values()))
    known = {embedded(text): state.goal_vectors.get(embedded(text)) for text in texts}
    fresh = {embedded(text): origin.aids.of(text) for text in message.goals}
    # Vectors of goals that are gone are dropped; the others need no new embedding.
    held = {text: fresh.get(text) or known[text] for text in sorted(known)}
    kept = {text: vector for text, vector in held.items() if vector is not None}
    return replace(state, goal_vectors=Map(kept))


def goal_vectors_of(settings: MindSettings, aids: Aids) -> Map[str, Vector]:
    """Return the vectors of the settings' goals, as far as the aids hold them."""
    made = {embedded(text): aids.of(text) for text in settings.goals}
    return Map({text: vector for text, vector in made.items() if vector is not None})


def biases(
    settings: MindSettings,
    state: AgentState,
    packs: Sequence[CompiledPack],
    domain: str | None = None,
    *,
    template: str | None = None,
) -> dict[str, float]:
    """Return the biases for an event of a domain; for None, those of no domain.

    `template` is the personality of an experiment's variant.
    """
    chosen = templates.in_force(state, settings.executive, packs, template)
    if chosen:
        return dict(chosen.biases)
    of_pack = next((each.pack for each in packs if each.pack.name == domain), None)
    found: dict[str, float] = {
        # Later entries override earlier ones, name by name.
        **settings.biases,
        **(of_pack.biases if of_pack else _NO_BIASES),
        **state.biases,
        **state.domain_biases.get(domain or "", _NO_BIASES),
    }
    return {name: clamp(found[name], -MOST_BIAS, MOST_BIAS) for name in found}


def profile_set(state: AgentState, message: ProfileSet, _: Origin) -> AgentState:
    """Return the state with other biases, or another profile of one person."""
    if message.person is not None:
        executive = state.executive
        memory = facts.profile_set(executive.memory, message)
        return replace(state, executive=replace(executive, memory=memory))
    told = Map(message.biases)
    if message.domain is None:
        return replace(state, biases=told)
    others = state.domain_biases
    # No biases for a domain means that those for all events count there again.
    if told:
        return replace(state, domain_biases=others.set(message.domain, told))
    if message.domain in others:
        return replace(state, domain_biases=others.delete(message.domain))
    return state


def _with(
    goals: Map[str, tuple[str, ...]], message: GoalsSet
) -> Map[str, tuple[str, ...]]:
    assert message.domain is not None
    held = {domain: goals[domain] for domain in sorted(goals)}
    held.pop(message.domain, None)
    if message.goals:
        first = sorted(held)[: limits.DOMAINS_WITH_GOALS - 1]
        held = {domain: held[domain] for domain in first}
        held[message.domain] = message.goals
    return Map(held)


def _likeness(
    state: AgentState, shared: SharedState, goal: str, vector: Vector
) -> float:
    text = embedded(goal)
    held = state.goal_vectors.get(text) or shared.goal_vectors.get(text)
    # Of another length it is another embedder's, and cannot be compared; -1 is the least
    # cosine, so that the goal is never near.
    if held is None or len(held) != len(vector):
        return -1.0
    return vectors.cosine(held, vector)
