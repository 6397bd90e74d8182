"""Traces of what is in a recording, and of what a replay made of it.

The same observer builds them as builds those of the live mind, so that names, tags and ids
are the same. A log holds no clock of the mind: a decision takes from the broker's time of its
event to that of its group.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from immutables import Map

from echoic.tracing.naming import Held
from echoic.tracing.observe import Answered, Observer, Trace
from echoic.tracing.run import Run
from echoic.tracing.spans import DecisionTrace
from replay.closed_loop.once import DecidedOnce
from replay.recording.recorded_groups import RecordedGroup, recorded_groups
from replay.recording.source import Recording
from schemas.state.agent import PartitionState


async def recorded_traces(
    recording: Recording, *, content: bool = False
) -> AsyncGenerator[Trace, None]:
    """Yield the traces of a recording's decisions, as live tracing would have made them.

    Their ids are those of live tracing too: send none that was traced already.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
    """
    observer = Observer(content=content)
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            for overdue in observer.overdue(group.arrived_ns):
                yield overdue
            outputs = tuple(group.outputs())
            seen = Answered.of_log(group.input, outputs, group.written_ns, _held(group))
            for trace in observer.answered(seen):
                yield trace
    for rest in observer.rest():
        yield rest


def replayed_trace(
    decided: DecidedOnce, run: Run, *, content: bool = False
) -> DecisionTrace:
    """Return the trace of a decision that a replay made once more."""
    observer = Observer(run=run, original=decided.id, content=content)
    held = Held(decided.state, decided.packs)
    traces = [
        trace
        for answer in decided.answers
        for trace in observer.answered(
            Answered.of_log(answer.input, answer.outputs, answer.written_ns, held)
        )
    ]
    return next(
        trace
        for trace in (*traces, *observer.rest())
        if isinstance(trace, DecisionTrace) and trace.decision_id == decided.made
    )


def _held(group: RecordedGroup) -> Held:
    """Return what names need of the mind's state: what controls and learning made."""
    found = group.after
    agents = Map({group.input.agent: found.agent})
    return Held(PartitionState(shared=found.shared, agents=agents), found.by_digest)
