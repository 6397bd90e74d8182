"""Forming: turn a liked answer of a model into a heuristic, outside any decision's path.

A vote asks the model for a rule, at the lowest priority. The rule becomes a heuristic of
low confidence, or the vote counts for a heuristic that already says the same.
"""

from datetime import timedelta

from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.flows.consult import afterthought_asked
from handlers.mind.stages import formation, similar_heuristics
from handlers.mind.stages.formation import Fault, Rule
from handlers.mind.stages.similar_heuristics import KnownHeuristic
from projections.folds import formation as lessons
from projections.folds.learning import vote_targets
from schemas.messages.asks import ModelAsked
from schemas.messages.learning import (
    CandidateRefused,
    FeedbackApplied,
    HeuristicFormed,
    HeuristicReinforced,
)
from schemas.messages.notes import Handled
from schemas.messages.repertoire import Formed
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs import conditions
from schemas.state.agent import Timer
from schemas.state.lessons import Forming, Lesson
from schemas.values import vectors
from schemas.values.model_settings import ModelSettings
from schemas.values.unicode_text import quoted
from schemas.values.vectors import Vector

FORMING_LIMIT = 16
"""How many rules of an agent may be asked for at once."""

_DETAIL_LIMIT = 2_000
"""How many characters of a model's failure are kept."""

PATIENCE = timedelta(minutes=10)
"""How long a rule is waited for; generous, since no decision depends on it."""


def ask(turn: TurnContext, vote: FeedbackApplied) -> None:
    """Ask a model for the rule behind an answer, if it was a model's and is liked."""
    model, decision_id = turn.settings.model, vote.decision_id
    if not turn.settings.formation or model is None or decision_id is None:
        return
    lesson = lessons.known(turn.state, decision_id)
    # Several answers said as one teach no rule: nobody knows which of them was liked.
    if vote.share is not None:
        return
    is_liked = vote.value > 0 and vote_targets.STRANDS[vote.aspect] == "pair"
    if lesson is None or not is_liked:
        return
    if len(turn.state.forming) >= FORMING_LIMIT:
        detail = f"{FORMING_LIMIT} others are in the making"
        _refuse(turn, decision_id, Fault("crowded", detail))
        return
    turn.emit(_formation_asked(turn, model, decision_id, lesson, PATIENCE))


def heard(
    turn: TurnContext, forming: Forming, result: ModelAnswered | ModelFailed
) -> None:
    """Make a heuristic of a model's rule, or emit why none is made."""
    turn.emit(Handled(reason="recorded"))
    if isinstance(result, ModelFailed):
        detail = f"{result.reason}: {result.detail}"[:_DETAIL_LIMIT]
        _refuse(turn, forming.decision_id, Fault("model_failed", detail))
    # The vote may have been changed while the model worked.
    elif forming.value <= 0:
        fault = Fault("vote_withdrawn", f"{quoted(forming.actor)} likes it no more")
        _refuse(turn, forming.decision_id, fault)
    else:
        _take(turn, forming, formation.read(result.text, forming.lesson))


def give_up(turn: TurnContext, timer: Timer) -> None:
    """End the wait for a rule."""
    decision_id = turn.state.forming[timer.id].decision_id
    _refuse(turn, decision_id, Fault("model_timeout", "no answer came"))


def _take(turn: TurnContext, forming: Forming, rule: Rule | Fault) -> None:
    if isinstance(rule, Fault):
        _refuse(turn, forming.decision_id, rule)
        return
    condition, action = turn.aids.of(rule.condition), turn.aids.of(rule.text)
    if condition is None or action is None:
        fault = Fault("not_embedded", "the embedder brought no vectors of it")
        _refuse(turn, forming.decision_id, fault)
        return
    same = same_as(turn, forming.lesson.domain, rule, condition, action)
    if same is None:
        turn.emit(_formed(forming, rule))
    else:
        _reinforce(turn, forming, same, action)


def _formed(forming: Forming, rule: Rule) -> HeuristicFormed:
    made = formation.formed(rule, forming.decision_id, forming.decision_id)
    placed = replace(made, domain=forming.lesson.domain)
    return HeuristicFormed(**Formed.taken(placed))


def same_as(
    turn: TurnContext, domain: str, rule: Rule, condition: Vector, action: Vector
) -> KnownHeuristic | None:
    """Return the heuristic of the same condition, `when` and action, if there is one."""
    limits = turn.settings.limits
    duplicate = limits.duplicate
    known = similar_heuristics.similar(
        turn.state, turn.packs, domain, condition, duplicate, by="condition"
    )
    return next(
        (
            each
            for each in known
            if _meaning(each.heuristic.when) == _meaning(rule.when)
            and _alike(each.heuristic.action_vector, action) >= limits.endorse
        ),
        None,
    )


def _reinforce(
    turn: TurnContext, forming: Forming, same: KnownHeuristic, action: Vector
) -> None:
    """Count the vote for a heuristic that exists already, and announce it."""
    turn.credit(
        FeedbackApplied(
            heuristic_id=same.heuristic.heuristic_id,
            content_hash=same.heuristic.content_hash,
            actor=forming.actor,
            value=forming.value,
            # Marks it as the same vote once more: it moves no rapport a second time (ADR
            # 0010).
            through=forming.decision_id,
        )
    )
    held = turn.belief(same.heuristic.heuristic_id, same.heuristic.content_hash)
    turn.emit(
        HeuristicReinforced(
            heuristic_id=same.heuristic.heuristic_id,
            content_hash=same.heuristic.content_hash,
            decision_id=forming.decision_id,
            similarity=same.similarity,
            action_similarity=_alike(same.heuristic.action_vector, action),
            confidence=held.confidence,
        )
    )


def _refuse(turn: TurnContext, decision_id: str, fault: Fault) -> None:
    turn.emit(
        CandidateRefused(
            reason=fault.reason, detail=fault.detail, decision_id=decision_id
        )
    )


def _meaning(when: str | None) -> tuple[object, ...]:
    return conditions.meaning(conditions.parse(when) if when else None)


def _alike(known: Vector, action: Vector) -> float:
    return vectors.cosine(known, action) if known else 0.0


def _formation_asked(
    turn: TurnContext,
    model: ModelSettings,
    decision_id: str,
    lesson: Lesson,
    patience: timedelta,
) -> ModelAsked:
    """Return the ask to the model to make a rule of an answer."""
    question = formation.question(lesson)
    return afterthought_asked(turn, model, "formation", decision_id, question, patience)
