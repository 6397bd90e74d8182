"""Forming: a liked answer of a model becomes a heuristic, off the way of any answer.

A vote asks, with a priority under every answer's; the rule that comes back joins the
domain's heuristics with all to prove, or counts for one that already says the same.
"""

from datetime import timedelta

from handlers.mind.context import Group
from handlers.mind.flows.consult import afterthought_asked
from handlers.mind.stages import formation, similar_heuristics
from handlers.mind.stages.formation import Fault, Rule
from handlers.mind.stages.similar_heuristics import Known
from projections.folds import formation as lessons
from projections.folds.learning import votes
from schemas.messages.asks import ModelAsked
from schemas.messages.learning import (
    CandidateRefused,
    FeedbackApplied,
    HeuristicFormed,
    HeuristicReinforced,
)
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs import conditions
from schemas.state.lessons import Forming, Lesson
from schemas.values import ids, vectors
from schemas.values.model_settings import ModelSettings
from schemas.values.unicode_text import quoted
from schemas.values.vectors import Vector

FORMING_LIMIT = 16
"""How many heuristics of an agent may be in the making."""

DETAIL_LIMIT = 2_000
"""How much of why a model failed is kept, in characters."""

PATIENCE = timedelta(minutes=10)
"""So long a rule is worth asking for: nobody waits for it."""


def ask(group: Group, vote: FeedbackApplied) -> None:
    """Ask a model for the rule behind an answer, if it was a model's and is liked."""
    model, decision_id = group.settings.model, vote.decision_id
    if not group.settings.formation or model is None or decision_id is None:
        return
    lesson = lessons.known(group.state, decision_id, group.settings)
    is_liked = vote.value > 0 and votes.STRANDS[vote.aspect] == "pair"
    if lesson is None or not is_liked:
        return
    if len(group.state.forming) >= FORMING_LIMIT:
        detail = f"{FORMING_LIMIT} others are in the making"
        _refuse(group, decision_id, Fault("crowded", detail))
        return
    group.say(formation_asked(group, model, decision_id, lesson, PATIENCE))


def heard(group: Group, forming: Forming, result: ModelAnswered | ModelFailed) -> None:
    """Make a heuristic of what a model sent, or say why none is made."""
    group.say(Handled(reason="recorded"))
    if isinstance(result, ModelFailed):
        detail = f"{result.reason}: {result.detail}"[:DETAIL_LIMIT]
        _refuse(group, forming.decision_id, Fault("model_failed", detail))
    elif forming.value <= 0:
        fault = Fault("vote_withdrawn", f"{quoted(forming.actor)} likes it no more")
        _refuse(group, forming.decision_id, fault)
    else:
        _take(group, forming, formation.read(result.text, forming.lesson))


def give_up(group: Group, forming: Forming) -> None:
    """Wait no longer for a rule."""
    _refuse(group, forming.decision_id, Fault("model_timeout", "no answer came"))


def _take(group: Group, forming: Forming, rule: Rule | Fault) -> None:
    if isinstance(rule, Fault):
        _refuse(group, forming.decision_id, rule)
        return
    condition, action = group.aids.of(rule.condition), group.aids.of(rule.text)
    if condition is None or action is None:
        fault = Fault("not_embedded", "the embedder brought no vectors of it")
        _refuse(group, forming.decision_id, fault)
        return
    same = same_as(group, forming.lesson.domain, rule, condition, action)
    if same is None:
        group.say(_formed(group, forming, rule))
    else:
        _reinforce(group, forming, same, action)


def _formed(group: Group, forming: Forming, rule: Rule) -> HeuristicFormed:
    id_ = ids.learnt_heuristic_id(forming.decision_id)
    return HeuristicFormed(
        heuristic_id=id_,
        name=formation.name(rule.condition, id_, group.settings.edition),
        domain=forming.lesson.domain,
        condition=rule.condition,
        when=rule.when,
        response_type=rule.response_type,
        text=rule.text,
        confidence=formation.CONFIDENCE,
        decision_id=forming.decision_id,
        when_left_out=rule.when_left_out,
        due=rule.due,
    )


def same_as(
    group: Group, domain: str, rule: Rule, condition: Vector, action: Vector
) -> Known | None:
    """The heuristic for the same situation, with the same test, that says the same."""
    limits = group.settings.limits
    known = similar_heuristics.like_condition(
        group.state, group.packs, domain, condition, limits.duplicate
    )
    return next(
        (
            each
            for each in known
            if _meaning(each.when) == _meaning(rule.when)
            and _alike(each.action, action) >= limits.endorse
        ),
        None,
    )


def _reinforce(group: Group, forming: Forming, same: Known, action: Vector) -> None:
    """Let the vote count for a heuristic that is there, and announce it."""
    group.credit(
        FeedbackApplied(
            heuristic_id=same.heuristic_id,
            content_hash=same.content_hash,
            actor=forming.actor,
            value=forming.value,
            through=forming.decision_id,
        )
    )
    held = group.belief(same.heuristic_id, same.content_hash)
    group.say(
        HeuristicReinforced(
            heuristic_id=same.heuristic_id,
            content_hash=same.content_hash,
            decision_id=forming.decision_id,
            similarity=same.similarity,
            action_similarity=_alike(same.action, action),
            confidence=held.confidence,
        )
    )


def _refuse(group: Group, decision_id: str, fault: Fault) -> None:
    group.say(
        CandidateRefused(
            reason=fault.reason, detail=fault.detail, decision_id=decision_id
        )
    )


def _meaning(when: str | None) -> tuple[object, ...]:
    return conditions.meaning(conditions.parse(when) if when else None)


def _alike(known: Vector, action: Vector) -> float:
    return vectors.cosine(known, action) if known else 0.0


def formation_asked(
    group: Group,
    model: ModelSettings,
    decision_id: str,
    lesson: Lesson,
    patience: timedelta,
) -> ModelAsked:
    """The ask to the model to make a rule of an answer."""
    question = formation.question(lesson, group.settings.edition)
    return afterthought_asked(
        group, model, "formation", decision_id, question, patience
    )
