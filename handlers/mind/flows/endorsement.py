"""Endorsement: compare a model's answer with what the domain's heuristics would say.

A heuristic that says the same and was not in the prompt is endorsed: the model came to it
by itself. One that was shown may have been copied, so that agreement earns nothing, nor
does one that would not have answered: condition and `when` must hold of the event.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from handlers.mind.context import TurnContext
from handlers.mind.stages import similar_heuristics
from handlers.mind.stages.similar_heuristics import KnownHeuristic
from projections.folds.learning import confidence, vote_targets
from schemas.messages.learning import Endorsed
from schemas.packs import conditions
from schemas.state.agent import Pending
from schemas.state.lessons import Lesson
from schemas.values import vectors
from schemas.values.exact_math import round6

ENDORSED_LIMIT = 16
"""How many heuristics one answer endorses at most, the most similar first."""


@dataclass(frozen=True, slots=True)
class Alike:
    """The heuristics that say what a model said."""

    shown: Mapping[str, float] = field(default_factory=dict)
    """The ids of those that it was shown, with how alike they are, the most alike first."""
    unseen: tuple[KnownHeuristic, ...] = ()
    """Those that it was not, the most alike first."""


_NONE_ALIKE = Alike()


def alike(turn: TurnContext, pending: Pending, text: str) -> Alike:
    """Return the heuristics of the decision's domain that say the same as a text."""
    lesson = pending.lesson
    if not turn.settings.endorsement or lesson is None:
        return _NONE_ALIKE
    known = saying(turn, lesson.domain, text)
    remembered = turn.state.decisions.get(pending.decision_id)
    suggested = remembered.suggested if remembered is not None else ()
    # What the model was shown it may have copied: no independent evidence (ADR 0010).
    unseen = [each for each in known if each.heuristic.heuristic_id not in suggested]
    return Alike(
        shown={
            each.heuristic.heuristic_id: each.similarity
            for each in known
            if each.heuristic.heuristic_id in suggested
        },
        unseen=holding(turn, unseen, lesson),
    )


def saying(turn: TurnContext, domain: str, text: str) -> list[KnownHeuristic]:
    """Return the heuristics of a domain that say the same as a text, best match first."""
    vector = turn.aids.of(text)
    if vector is None:
        return []
    limit = turn.settings.limits.endorse
    return similar_heuristics.similar(
        turn.state, turn.packs, domain, vector, limit, by="action"
    )


def is_proposed(turn: TurnContext, domain: str, said: str) -> bool:
    """Tell whether a heuristic of a domain that says the same was proposed before."""
    vector, limit = turn.aids.of(said), turn.settings.limits.endorse
    actions = (
        each.vectors[1]
        for each in turn.state.proposals
        if each.repertoire is not None and each.repertoire.domain == domain
    )
    return vector is not None and any(
        # Another length is that of an earlier embedder: such vectors cannot be compared.
        len(action) == len(vector) and vectors.cosine(vector, action) >= limit
        for action in actions
    )


def is_endorsed(turn: TurnContext, decision_id: str, known: KnownHeuristic) -> bool:
    """Tell whether a heuristic holds an endorsement by this decision that still counts."""
    held = turn.belief(known.heuristic.heuristic_id, known.heuristic.content_hash)
    return confidence.find(held, decision_id, "endorsement") is not None


def holding(
    turn: TurnContext, known: Sequence[KnownHeuristic], event: Lesson
) -> tuple[KnownHeuristic, ...]:
    """Return those whose condition and `when` hold of an event."""
    if not known or not event.vector:
        return ()
    limit = turn.settings.limits.match
    near = {
        each.heuristic.heuristic_id: each.similarity
        for each in similar_heuristics.similar(
            turn.state, turn.packs, event.domain, event.vector, limit, by="condition"
        )
    }
    fields = orjson.loads(event.fields)
    return tuple(
        each
        for each in known
        if each.heuristic.heuristic_id in near
        and _fitted(turn, each, near[each.heuristic.heuristic_id]) >= limit
        and _when_holds(each, event, fields)
    )


def _fitted(turn: TurnContext, known: KnownHeuristic, similarity: float) -> float:
    found = known.heuristic
    fit = vote_targets.fit(turn.state, found.heuristic_id, found.content_hash)
    return round6(similarity * fit)


def _when_holds(
    known: KnownHeuristic, event: Lesson, fields: Mapping[str, object]
) -> bool:
    if known.heuristic.when is None:
        return True
    when = conditions.parse(known.heuristic.when)
    return conditions.holds(when, event.type, event.source, fields)


def endorse(turn: TurnContext, decision_id: str, found: Alike) -> None:
    """Credit the heuristics that the model agreed with unseen, but for frozen ones."""
    weight = turn.learning.weights.endorsement
    for known in found.unseen[:ENDORSED_LIMIT]:
        if (
            turn.life(known.heuristic.heuristic_id, known.heuristic.content_hash)
            == "frozen"
        ):
            continue
        turn.credit(
            Endorsed(
                heuristic_id=known.heuristic.heuristic_id,
                content_hash=known.heuristic.content_hash,
                decision_id=decision_id,
                similarity=known.similarity,
                # In proportion to the similarity; the fold caps what endorsements add in
                # all.
                weight=round6(weight * known.similarity),
            )
        )
