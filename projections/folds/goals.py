"""Goals: which of them count for an event.

The agent's own, else those of the settings, and those of the event's domain. With
`goals.choose` only the few nearest to the event count, unless none is near enough.
"""

from collections.abc import Sequence
from itertools import chain

from immutables import Map
from msgspec.structs import replace

from schemas.messages.controls import GoalsSet
from schemas.messages.decisions import RelevantGoal
from schemas.ports.aids import Aids, embedded
from schemas.state import limits
from schemas.state.agent import AgentState, SharedState
from schemas.values import vectors
from schemas.values.settings import MindSettings
from schemas.values.vectors import Vector


def own(state: AgentState, settings: MindSettings) -> tuple[str, ...]:
    """Return the goals that count for every event."""
    return settings.goals if state.goals is None else state.goals


def of_domain(
    state: AgentState, settings: MindSettings, domain: str
) -> tuple[str, ...]:
    """Return the goals that may count for a domain's events, each once."""
    always = own(state, settings)
    further = state.domain_goals.get(domain)
    return always if not further else tuple(dict.fromkeys((*always, *further)))


def possible(state: AgentState, settings: MindSettings) -> tuple[str, ...]:
    """Return a description of which further goals a model may be told, by domain.

    Empty while no domain has goals of its own and none are chosen.
    """
    parts: list[str] = []
    for domain in sorted(state.domain_goals):
        parts += [f"goals/{domain}", *state.domain_goals[domain]]
    if settings.goals_choose:
        parts.append(f"choose/{settings.goals_choose}")
    return tuple(parts)


def chosen(
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


def applied(state: AgentState, message: GoalsSet, aids: Aids) -> AgentState:
    """Return the state with these goals, of the agent or of one domain."""
    if message.domain is None:
        state = replace(state, goals=message.goals)
    else:
        state = replace(state, domain_goals=_with(state.domain_goals, message))
    texts = (*(state.goals or ()), *chain.from_iterable(state.domain_goals.values()))
    known = {embedded(text): state.goal_vectors.get(embedded(text)) for text in texts}
    fresh = {embedded(text): aids.of(text) for text in message.goals}
    # Vectors of goals that are gone are dropped; the others need no new embedding.
    held = {text: fresh.get(text) or known[text] for text in sorted(known)}
    kept = {text: vector for text, vector in held.items() if vector is not None}
    return replace(state, goal_vectors=Map(kept))


def of_settings(settings: MindSettings, aids: Aids) -> Map[str, Vector]:
    """Return the vectors of the settings' goals, as far as the aids hold them."""
    made = {embedded(text): aids.of(text) for text in settings.goals}
    return Map({text: vector for text, vector in made.items() if vector is not None})


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
