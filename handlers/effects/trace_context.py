"""The trace that a model's call belongs to, as the exported spans have it.

A call may be asked for by a later input than the decision's own: when the memory answered,
a turn was granted, or what had waited was taken up. Its trace is that of the decision
all the same, so the decision is looked up in the log.
"""

from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.sensing import Sensed
from schemas.values import ids
from schemas.values.subjects import output_subject
from streams.log import ReadableLog

_BACK = (200, 5_000)
"""How many messages back a decision is looked for; one that waited longer is not found."""
_PAGE = 1_000


async def traceparent(log: ReadableLog, output: Output, asked: ModelAsked) -> str:
    """Return the W3C `traceparent` of what a model's call causes.

    A call for a vote or a reflection is in the trace of the input that asked for it.
    """
    occasion = None
    if not asked.is_afterwards:
        occasion = await _occasion(log, output, asked.decision_id)
    named = occasion or output.mark.cause_id
    return ids.traceparent(named, ids.ask_span_id(output.id))


async def _occasion(log: ReadableLog, output: Output, decision_id: str) -> str | None:
    """Return what a decision's trace is named after; None if it is not near."""
    subject = output_subject(
        output.partition, output.agent, Decided.kind, Decided.token
    )
    end = output.record.sequence
    for back in _BACK:
        after = max(0, end - back)
        while records := await log.page(subject, after, _PAGE):
            for record in records:
                if record.headers.get("ce-id") == decision_id:
                    return await _named_after(log, read_output(record))
            after = records[-1].sequence
            if after >= end:
                break
    return None


async def _named_after(log: ReadableLog, decided: Output) -> str | None:
    message = decided.message
    cause = await log.record(decided.mark.cause_sequence)
    if cause is None or not isinstance(message, Decided):
        return None
    # What a timer made the mind decide is no event's: its trace is named after itself.
    is_event = isinstance(read_input(cause).message, Sensed)
    return message.event_id if is_event else decided.id
