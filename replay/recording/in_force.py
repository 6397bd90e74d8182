"""What was in force for an agent at a sequence of the log, by its controls alone.

Only the outputs of applied controls are read, by their subjects, so the time it takes grows
with the controls and not with the log.
"""

from collections import defaultdict

from replay.recording.standing import CHANGES, InForce, brought
from schemas.codec.decode import read_input, read_mark, read_output
from schemas.values.record import Record
from schemas.values.subjects import SHARED_AGENT, output_subject, partition_of
from streams.log import ReadableLog, scan


async def standing_before(
    log: ReadableLog, agent: str, sequence: int | None = None
) -> InForce:
    """Return what is in force for an agent before the input at a sequence, packs and all.

    None is the end of the log.
    """
    # By the sequence of their input, which is the order in which the mind applied them.
    causes: dict[int, list[Record]] = defaultdict(list)
    for owner in (SHARED_AGENT, agent):
        for message in CHANGES:
            subject = output_subject(
                partition_of(agent), owner, message.kind, message.token
            )
            async for record in scan(log, subject):
                causes[read_mark(record).cause_sequence].append(record)
    standing = InForce()
    for cause in sorted(causes):
        if sequence is not None and cause >= sequence:
            break
        input_ = await log.record(cause)
        if input_ is not None:
            outputs = [read_output(record) for record in causes[cause]]
            # What some controls do depends on the packs in force, so these are loaded first.
            standing = await brought(standing, log)
            standing = standing.after(read_input(input_), outputs)
    return await brought(standing, log)
