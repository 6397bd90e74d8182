"""Relevance: what speaks for and against an answer besides salience.

score = clamp(S_eff + 0.2 goal match + 0.1 focus alignment + 0.1 novelty - 0.3 said already),
and the threshold is that of the pack or the settings, plus what raises it for a while, and
-0.4 for each unit of proactive over the usual one, -0.1 for each of helpfulness. Each weight
is a setting. A like event that was answered within five minutes was said already.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from projections.folds.executive import people, sayings
from schemas.messages.decisions import Relevance, Salience
from schemas.messages.sensing import Sensed
from schemas.state.agent import AgentState
from schemas.state.executive import Executive, Saying
from schemas.values import vectors
from schemas.values.exact_math import clamp, round6, total
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.personality import USUAL_TRAITS, Trait
from schemas.values.settings import MindSettings
from schemas.values.vectors import Vector

_SAID_WITHIN = timedelta(minutes=5)
LEAST, MOST = 0.05, 0.95
"""Between which any threshold stays, whatever is added to it."""


def weigh(
    salience: Salience,
    weights: ExecutiveSettings,
    *,
    is_about_goal: bool,
    focus: float,
    was_said: bool,
    threshold: float,
    raises: float,
    by_traits: float,
) -> Relevance:
    """Weigh an event; `focus` is how near it is to what the person is about, 0 to 1."""
    goal = weights.weight_goal if is_about_goal else 0.0
    aligned = round6(weights.weight_focus * focus) if focus else 0.0
    novelty = round6(weights.weight_novelty * salience.dimensions.get("novelty", 0.0))
    said = weights.weight_said if was_said else 0.0
    added = goal + aligned + novelty - said
    return Relevance(
        goal=goal,
        focus=aligned,
        novelty=novelty,
        # Not `-said`, which of 0 would be written as -0.0.
        already_said=0.0 - said,
        raises=raises,
        by_traits=by_traits,
        score=round6(clamp(salience.effective + added, 0.0, 1.0)),
        threshold=round6(clamp(threshold + raises + by_traits, LEAST, MOST)),
    )


def by_traits(traits: Mapping[Trait, float], weights: ExecutiveSettings) -> float:
    """Return what the character adds to the threshold; 0 for the usual one."""
    # They are always this very mapping, of which nothing need be computed.
    if traits is USUAL_TRAITS:
        return 0.0
    # ADR-0014 §5.2.1 names both traits; the numbers are ours.
    proactive = traits["proactive"] - USUAL_TRAITS["proactive"]
    helpful = traits["helpfulness"] - USUAL_TRAITS["helpfulness"]
    lowered = (
        -weights.weight_proactive * proactive,
        -weights.weight_helpfulness * helpful,
    )
    return round6(total(lowered))


def focus(executive: Executive, person: str | None, vector: Vector | None) -> float:
    """Return how near the event is to what the person is about, 0 to 1."""
    known = people.state_of(executive, person)
    if vector is None or known is None or not known.focus_vector:
        return 0.0
    return clamp(vectors.cosine(known.focus_vector, vector), 0.0, 1.0)


def compared(
    state: AgentState,
    settings: MindSettings,
    event: Sensed,
    domain: str,
    *,
    vector: Vector | None,
    now: datetime,
    counts: Callable[[Saying], bool],
) -> tuple[Sequence[float] | None, float]:
    """Return the cosines to the source's last events, and the highest to those of the
    domain that were answered lately.

    None and -1 if none was that counts: the cosines to the last events are novelty's own
    matter then. `counts` tells which may have said the same.
    """
    if not settings.executive.relevance or vector is None:
        return None, -1.0
    lately = [
        each.vector
        for each in sayings.between(
            state.executive.sayings.said, now - _SAID_WITHIN, now
        )
        if each.vector and each.domain == domain and counts(each)
    ]
    if not lately:
        return None, -1.0
    known = state.sources.get(event.source)
    recent = known.recent if known is not None else ()
    # In one product, since most of its time is that of the call.
    alike = vectors.likenesses((*recent, *lately), vector)
    return alike[: len(recent)], max(alike[len(recent) :])
