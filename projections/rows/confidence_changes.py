"""Rows of the history of confidence: each change, its reason, and its message."""

from typing import TypeAlias

from projections.folds.learning import beliefs, confidence
from projections.rows.changes import Change, Put, Row
from projections.rows.folded_group import Folded, Step
from schemas.codec.envelope import Input, Output
from schemas.messages.learning import (
    AdviceIgnored,
    Endorsed,
    FeedbackApplied,
    OutcomeObserved,
    SilenceWeighed,
)
from schemas.state.evidence import Belief
from schemas.values.learning_settings import LearningSettings

_Content: TypeAlias = tuple[str, str]
"""A heuristic's id and content hash."""

_HOW = {"report": "reported", "pattern": "seen", "undo": "taken back"}


def of_vote(step: Step, message: FeedbackApplied) -> list[Change]:
    """Return the change by a vote on a heuristic's answer; none if it moved nothing."""
    if message.heuristic_id is None or message.content_hash is None:
        return []
    return _credited(
        step,
        message.heuristic_id,
        message.content_hash,
        why="vote",
        detail=f"{message.actor}: {message.value:+g}{_aspect(message)}",
        fire_id=message.fire_id,
        decision_id=message.decision_id or message.through,
    )


def of_outcome(step: Step, message: OutcomeObserved) -> list[Change]:
    """Return the change by an outcome of a fire."""
    return _credited(
        step,
        message.heuristic_id,
        message.content_hash,
        why=f"outcome_{message.by}",
        detail=f"{message.outcome}: {message.pattern or message.reason or _HOW[message.by]}",
        fire_id=message.fire_id,
        decision_id=message.decision_id,
    )


def of_ignored(step: Step, message: AdviceIgnored) -> list[Change]:
    """Return the change by a run of ignored fires."""
    return _credited(
        step,
        message.heuristic_id,
        message.content_hash,
        why="ignored",
        detail=f"{message.count} times in a row",
        fire_id=message.fire_id,
        decision_id=message.decision_id,
    )


def of_endorsement(step: Step, message: Endorsed) -> list[Change]:
    """Return the change by a model's endorsement."""
    return _credited(
        step,
        message.heuristic_id,
        message.content_hash,
        why="endorsement",
        detail=f"a model said the same, like {message.similarity:.2f}",
        fire_id=None,
        decision_id=message.decision_id,
    )


def of_silence(step: Step, message: SilenceWeighed) -> list[Change]:
    """Return the change by evidence on a heuristic that keeps silent."""
    who = message.actor or "the world"
    words = {True: "better silent", False: "better said"}
    detail = "said no more" if message.value is None else words[message.value > 0.0]
    return _credited(
        step,
        message.heuristic_id,
        message.content_hash,
        why="silence",
        detail=f"{who}: {detail}",
        fire_id=None,
        decision_id=message.decision_id,
    )


def declared(
    folded: Folded,
    output: Output | None,
    content: _Content,
    held: Belief,
    *,
    why: str,
    detail: str,
    before: float | None = None,
) -> Put:
    """Return the entry of a heuristic that is taught, formed or edited."""
    about: Row = {"why": why, "detail": detail, "at": folded.input.at}
    its = beliefs.terms_of(folded.agent, folded.packs, content[0])
    learning = beliefs.learning_under(folded.learning, its)
    return _entry(folded.input, output, content, before, held, learning, about)


def of_pack(
    folded: Folded, agent: str, content: _Content, standing: Row, detail: str
) -> Put:
    """Return the entry of an agent's pack heuristic that came into force as it stands.

    The input may concern all agents, of whom this is one.
    """
    row: Row = {
        **_about(folded.input, None, content),
        "before": None,
        "after": standing["confidence"],
        "alpha": standing["alpha"],
        "beta": standing["beta"],
        "why": "pack",
        "detail": detail,
        "at": folded.input.at,
    }
    return Put("confidence_changes", (agent, _key(folded.input, None, content)), row)


def counts(held: Belief, learning: LearningSettings) -> tuple[float, float]:
    """Return the pseudo-counts alpha and beta of a belief, not rounded."""
    return confidence.counts(held, learning)


def _aspect(message: FeedbackApplied) -> str:
    return "" if message.aspect == "overall" else f" on the {message.aspect}"


def _credited(
    step: Step,
    heuristic_id: str,
    content_hash: str,
    *,
    why: str,
    detail: str,
    fire_id: str | None,
    decision_id: str | None,
) -> list[Change]:
    before = step.context.belief(step.before, heuristic_id, content_hash)
    after = step.context.belief(step.after, heuristic_id, content_hash)
    # By signals and not by confidence: evidence may leave that where it is, at a bound
    # or by rounding, and is history all the same.
    if after.signals == before.signals:
        return []
    about: Row = {
        "why": why,
        "detail": detail,
        "at": step.context.now,
        "fire_id": fire_id,
        "decision_id": decision_id,
    }
    input_, learning = (
        step.context.input,
        step.context.judging(step.after, heuristic_id),
    )
    content = heuristic_id, content_hash
    was = before.confidence
    return [_entry(input_, step.output, content, was, after, learning, about)]


def _entry(
    input_: Input,
    output: Output | None,
    content: _Content,
    before: float | None,
    held: Belief,
    learning: LearningSettings,
    about: Row,
) -> Put:
    alpha, beta = counts(held, learning)
    row: Row = {
        **_about(input_, output, content),
        "before": before,
        "after": held.confidence,
        "alpha": alpha,
        "beta": beta,
        **about,
    }
    key = input_.agent, _key(input_, output, content)
    return Put("confidence_changes", key, row)


def _about(input_: Input, output: Output | None, content: _Content) -> Row:
    heuristic_id, content_hash = content
    return {
        "heuristic_id": heuristic_id,
        "content_hash": content_hash,
        "fire_id": None,
        "decision_id": None,
        "message_id": output.id if output is not None else None,
        "cause_id": input_.id,
        "sequence": input_.sequence,
    }


def _key(input_: Input, output: Output | None, content: _Content) -> str:
    # Heuristic ids may be long and are people's to choose, so they go last.
    index = output.mark.index if output is not None else "in"
    return f"{input_.sequence}/{index}/{content[0]}"
