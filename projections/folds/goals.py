"""Goals: which of a person's goals count for an event.

The agent's own, else the settings', and those set for the event's domain. If the settings
say so, only the few that are nearest to the event count, as far as any is near enough.
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
    """Return what says, besides the goals for every event, which others a model may be told.

    Nothing while there are no others, and none are chosen.
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
    """Return the goals that an event is nearest to, nearest first; None if all of them
    count.
    """
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
    near.sort(key=lambda each: (-each.similarity, each.text))
    return tuple(near[: settings.goals_choose]) or None


def applied(state: AgentState, message: GoalsSet, aids: Aids) -> AgentState:
    """Return the state in which these are the goals, of the agent or of one domain."""
    if message.domain is None:
        state = replace(state, goals=message.goals)
    else:
        state = replace(state, domain_goals=_with(state.domain_goals, message))
    texts = (*(state.goals or ()), *chain.from_iterable(state.domain_goals.values()))
    known = {embedded(text): state.goal_vectors.get(embedded(text)) for text in texts}
    fresh = {embedded(text): aids.of(text) for text in message.goals}
    held = {text: fresh.get(text) or known[text] for text in sorted(known)}
    kept = {text: vector for text, vector in held.items() if vector is not None}
    return replace(state, goal_vectors=Map(kept))


def of_settings(settings: MindSettings, aids: Aids) -> Map[str, Vector]:
    """Return the vectors of the settings' goals, as far as they were brought."""
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
    # Another embedder may have made it; then it says nothing.
    if held is None or len(held) != len(vector):
        return -1.0
    return vectors.cosine(held, vector)
