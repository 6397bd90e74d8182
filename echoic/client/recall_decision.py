"""Recall of old decisions, which the mind no longer remembers, from the log.

When the mind refuses a vote because it does not know the decision, the sender looks here
and sends what it finds along with the vote, so that it becomes part of the log.
"""

from collections.abc import AsyncIterator, Mapping

from projections.folds.learning.votes import STRANDS
from schemas.codec.decode import read_output
from schemas.codec.envelope import Output
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.feedback import FeedbackGiven, Recalled, Strand
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
    return given.model_copy(update={"about": about}) if about else None


async def recalled(
    log: ReadableLog, agent: str, decision_id: str, actor: str = ""
) -> Recalled | None:
    """Return what the log holds of a decision; None if the agent made no such one.

    `vote` of the result is the latest of `actor`.
    """
    decision = await _decision(log, agent, decision_id)
    if decision is None:
        return None
    decided = decision.message
    assert isinstance(decided, Decided)
    path, fire = decided.path, None
    async for output in _what_follows(log, decision):
        match output.message:
            case HeuristicFired(mode="shown" | "kept") as message:
                fire = (output.id, message.heuristic_id, message.content_hash)
            case Completed() as message:
                path = message.path
            case Dropped():
                path = "fallback"
            case _:
                pass
    latest = await _votes(log, decision)
    fire_id, heuristic_id, content_hash = fire or (None, None, None)
    return Recalled(
        event_id=decided.event_id,
        source=decided.source,
        session_id=decided.session_id,
        path=path,
        fire_id=fire_id,
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        entries=_entries(latest) if fire else (),
        vote=latest[actor].value if actor in latest else None,
        outcome=await _outcome(log, decision) if fire else None,
    )


async def _decision(log: ReadableLog, agent: str, id_: str) -> Output | None:
    subject = output_subject(partition_of(agent), agent, "decision", Decided.token)
    async for record in scan(log, subject):
        # Compared by header: decoding every decision of the agent would take longer.
        if record.headers.get("ce-id") == id_:
            return read_output(record)
    return None


async def _what_follows(log: ReadableLog, decision: Output) -> AsyncIterator[Output]:
    """Yield the outputs that concern a decision, up to its completion or drop."""
    decided = decision.message
    is_final = isinstance(decided, Decided) and decided.final
    subject = output_subject(decision.partition, decision.agent, "*", "*")
    async for record in scan(log, subject, decision.record.sequence):
        output = read_output(record)
        # A final decision's fire is in its own group; everything behind that is unrelated.
        if is_final and output.mark.cause_sequence != decision.mark.cause_sequence:
            return
        if getattr(output.message, "decision_id", None) == decision.id:
            yield output
            if isinstance(output.message, Completed | Dropped):
                return


async def _votes(log: ReadableLog, decision: Output) -> dict[str, FeedbackApplied]:
    """Return the latest vote of each person on the decision, by person."""
    after = decision.record.sequence
    votes = messages(log, FeedbackApplied, decision.agent, after=after)
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
