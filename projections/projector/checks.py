"""Whether tables are of this program, and made of this log."""

from collections.abc import Mapping

from projections.errors import LogTruncated, StoreUnusable
from projections.store.places import SHAPE, Position, Version
from schemas.codec.decode import read_input
from streams.log import ReadableLog


def check_shape(serving: Version) -> None:
    """Check that the tables have the columns that this program writes.

    Raises:
        StoreUnusable: they do not; another version of the program made them.
    """
    if serving.shape != SHAPE:
        raise StoreUnusable(
            f"the tables have shape {serving.shape!r}, this program writes"
            f" {SHAPE!r}: run `echoic projection rebuild`"
        )


async def check_positions(log: ReadableLog, stands: Mapping[int, Position]) -> None:
    """Check that the log holds what the tables were made of.

    Raises:
        LogTruncated: it does not.
    """
    for partition, fault in (await unfounded(log, stands)).items():
        raise LogTruncated(
            f"the tables hold partition {partition} up to sequence"
            f" {stands[partition].sequence}, and {fault}: put the log back, or make the"
            " tables of this log by `echoic projection rebuild`"
        )


async def unfounded(
    log: ReadableLog, stands: Mapping[int, Position]
) -> Mapping[int, str]:
    """Return why the log does not hold a position, by partition, for those that it lacks."""
    faults = {each: await _fault(log, stands[each]) for each in sorted(stands)}
    return {each: fault for each, fault in faults.items() if fault is not None}


async def _fault(log: ReadableLog, position: Position) -> str | None:
    if position.epoch != str(log.epoch):
        return f"this is another log ({log.epoch}, not {position.epoch})"
    record = await log.record(position.sequence)
    if record is None:
        return "the log ends before it"
    # Same epoch and long enough, yet other content: the log was restored from an older
    # copy and has gone on differently.
    found = read_input(record).id
    if found != position.message_id:
        return f"the log has {found!r} there, not {position.message_id!r}"
    return None
