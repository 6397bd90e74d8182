"""Recall of old decisions, which the mind no longer remembers, from the log.

When the mind refuses a vote because it does not know the decision, the sender looks here
and sends what it finds along with the vote, so that it becomes part of the log.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from echoic.client.find import record_of
from projections.folds.learning.vote_targets import STRANDS
from schemas.codec.decode import read_output
from schemas.codec.envelope import Output
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.feedback import FeedbackGiven, ForgottenDecision, Strand
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.values.reasons import Outcome
from schemas.values.subjects import output_subject, partition_of
from streams.log import ReadableLog, messages, scan


async def with_recalled(
    log: ReadableLog, agent: str, given: FeedbackGiven
) -> FeedbackGiven | None:
    """Return the vote with what the log holds of its decision; None if it holds none."""
    if given.decision_id is None:
        return None
    about = await recalled(log, agent, given.decision_id, given.actor)
    return replace(given, about=about) if about else None


async def recalled(
    log: ReadableLog, agent: str, decision_id: str, actor: str = ""
) -> ForgottenDecision | None:
    """Return what the log holds of a decision; None if the agent made no such one.

    `vote` of the result is the latest of `actor`.
    """
    decision = await _decision(log, agent, decision_id)
    if decision is None:
        return None
    record = await record_of(log, decision)
    latest = await _votes(log, decision)
    fires = list(record.fires.items())
    fire_id, fire = fires[-1] if fires else (None, None)
    return ForgottenDecision(
        event_id=record.decided.event_id,
        source=record.decided.source,
        session_id=record.decided.session_id,
        path=record.path,
        fire_id=fire_id,
        heuristic_id=fire.heuristic_id if fire else None,
        content_hash=fire.content_hash if fire else None,
        entries=_entries(latest) if fire else (),
        vote=latest[actor].value if actor in latest else None,
        outcome=await _outcome(log, decision) if fire else None,
        answers=_answers(record.ending),
    )


def _answers(ending: Completed | Dropped | None) -> int | None:
    """Return how many decisions the words answered; None if only the one."""
    others = ending.also_answers if isinstance(ending, Completed) else ()
    return 1 + len(others) if others else None


async def _decision(log: ReadableLog, agent: str, id_: str) -> Output | None:
    subject = output_subject(partition_of(agent), agent, "decision", Decided.token)
    async for record in scan(log, subject):
        # Compared by header: decoding every decision of the agent would take longer.
        if record.headers.get("ce-id") == id_:
            return read_output(record)
    return None


async def _votes(log: ReadableLog, decision: Output) -> dict[str, FeedbackApplied]:
    """Return the latest vote of each person on the decision, by person."""
    after = decision.record.sequence
    votes = messages(log, FeedbackApplied, decision.agent, after=after)
    # The log is read in order, so a person's later vote replaces the earlier one.
    return {
        vote.actor: vote async for _, vote in votes if vote.decision_id == decision.id
    }


def _entries(latest: Mapping[str, FeedbackApplied]) -> tuple[Strand, ...]:
    """Return the strands of evidence in which these votes are counted, in a fixed order."""
    counted = {STRANDS[vote.aspect] for vote in latest.values()}
    strands: tuple[Strand, ...] = ("pair", "fit")
    return tuple(strand for strand in strands if strand in counted)


async def _outcome(log: ReadableLog, decision: Output) -> Outcome | None:
    """Return the observed outcome of the decision's fire; None if there was none."""
    after = decision.record.sequence
    async for _, end in messages(log, OutcomeObserved, decision.agent, after=after):
        if end.decision_id == decision.id:
            return end.outcome
    return None
