"""The one reader: the log in its logical order, an input, its group, the next input.

Whatever folds the log reads through here: worker, projector and replay, over any kind of
log. Only whole groups are yielded, and nothing is skipped: a gap raises.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from schemas.codec.decode import read_mark
from schemas.codec.envelope import Mark
from schemas.values.record import Record
from schemas.values.subjects import inputs_of, outputs_of, parse
from streams.errors import LogDamaged, Unanswered
from streams.log import ReadableLog, matches

_PAGE = 1000
"""How many records of each direction are held at once, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class Group:
    """An input and the outputs that answer it, in order of their index."""

    input: Record
    outputs: tuple[Record, ...]


async def groups(
    log: ReadableLog, partition: int, after: int = 0, until: int | None = None
) -> AsyncGenerator[Group, None]:
    """Yield the whole groups of a partition, by the order of their inputs.

    `after` is the position so far: the sequence of the last input whose group was read.
    `until` is the last input of interest. It ends where no further whole group is stored.

    Raises:
        LogDamaged: an output without its input, a group that is not whole though another
            follows, an input that was passed over, or a group that comes again.
    """
    # Inputs are stored as they arrive and groups in batches, so several inputs may stand
    # before the first one's group: two cursors put them back into logical order.
    inputs = _Cursor(log, inputs_of(partition), after)
    outputs = _Cursor(log, outputs_of(partition), after)
    position, answered = after, after
    while group := await _next_group(outputs, answered):
        first, mark = group[0]
        if until is not None and mark.cause_sequence > until:
            return
        # Groups stand in the order of their inputs. The fence forbids anything else, so a
        # repeated cause is damage or a second writer without a fence.
        if mark.cause_sequence <= position:
            raise LogDamaged(
                "repeated",
                first.sequence,
                f"it answers the input at {mark.cause_sequence} though the log was"
                f" answered up to {position} before",
            )
        cause = await _cause(log, inputs, mark, first)
        yield Group(cause, tuple(record for record, _ in group))
        position, answered = mark.cause_sequence, 0


async def answer(
    log: ReadableLog, partition: int, cause_sequence: int, timeout_s: float
) -> Group:
    """Wait up to `timeout_s` seconds for the group that answers an input.

    Raises:
        Unanswered: there is no whole group in time.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await _follow_group(log, partition, cause_sequence)
    except TimeoutError:
        raise Unanswered(
            f"nothing answered the input at sequence {cause_sequence} within"
            f" {timeout_s:g} s: is a worker running for partition {partition}?",
            cause_sequence,
        ) from None


async def arrival(
    log: ReadableLog, subject: str, event_id: str, after: int, timeout_s: float
) -> Record:
    """Wait for an event that a sensor sent, and return its record in the log.

    A sensor's acknowledgement comes from an intake stream, so only the log knows its sequence.

    Raises:
        Unanswered: it did not arrive in time.
    """
    try:
        async with (
            asyncio.timeout(timeout_s),
            aclosing(log.follow(subject, after, _PAGE)) as following,
        ):
            async for records in following:
                for record in records:
                    if record.headers.get("ce-id") == event_id:
                        return record
    except TimeoutError:
        pass
    raise Unanswered(
        f"the event {event_id!r} did not arrive at {subject!r} within {timeout_s:g} s:"
        " was it acknowledged?"
    )


async def _follow_group(log: ReadableLog, partition: int, cause: int) -> Group:
    # An answer is stored behind its input, so it is enough to follow from there. Other
    # groups may come before it and are passed over.
    found: list[tuple[Record, Mark]] = []
    async with aclosing(log.follow(outputs_of(partition), cause, _PAGE)) as following:
        async for records in following:
            for record in records:
                mark = _mark(record)
                if mark.cause_sequence != cause:
                    continue
                _check_place(found, record, mark)
                found.append((record, mark))
                if len(found) == mark.count:
                    input_ = await _existing_cause(log, partition, mark, record)
                    return Group(input_, tuple(each for each, _ in found))
    raise LogDamaged(
        "unanswered", cause, "a recorded log ends before its group is whole"
    )


class _Cursor:
    """A position in the records of one subject filter; holds one page at most."""

    def __init__(self, log: ReadableLog, subjects: str, after: int) -> None:
        self._log = log
        self._subjects = subjects
        self._position = after
        self._page: tuple[Record, ...] = ()
        self._next = 0

    async def peek(self) -> Record | None:
        """Return the next record without advancing; None at the end of what is stored."""
        if self._next == len(self._page):
            page = await self._log.page(self._subjects, self._position, _PAGE)
            if not page:
                return None
            self._page, self._next, self._position = page, 0, page[-1].sequence
        return self._page[self._next]

    def resume(self, after: int) -> None:
        """Continue behind a sequence, forgetting the page."""
        self._page, self._next, self._position = (), 0, after

    def advance(self) -> None:
        """Move past the record that `peek` returned."""
        self._next += 1


async def _next_group(outputs: _Cursor, answered: int) -> list[tuple[Record, Mark]]:
    """Return the next group if it is whole, else an empty list.

    Outputs that answer inputs up to `answered` are passed over: a position is an input's
    sequence, and its group stands behind it. All of it may be missing from a lagging replica's
    page, so this goes on until another group is there; so may the rest of a group at the
    log's end.
    """
    group: list[tuple[Record, Mark]] = []
    while (record := await outputs.peek()) is not None:
        mark = _mark(record)
        if mark.cause_sequence <= answered:
            outputs.advance()
            continue
        _check_place(group, record, mark)
        outputs.advance()
        group.append((record, mark))
        if len(group) == mark.count:
            return group
    return []


async def _cause(
    log: ReadableLog, inputs: _Cursor, mark: Mark, output: Record
) -> Record:
    """Return the input that an output answers, which must be the next one.

    Raises:
        LogDamaged: there is no such input, or one before it has no answer.
    """
    cause = mark.cause_sequence
    record = await inputs.peek()
    if record is not None and record.sequence == cause:
        inputs.advance()
        return record
    found = await _existing_cause(log, parse(output.subject).partition, mark, output)
    if record is not None and record.sequence < cause:
        raise LogDamaged(
            "skipped",
            record.sequence,
            f"nothing answers this input, and {output.sequence} answers the later {cause}",
        )
    # A page of inputs may come from a replica that lags behind the one that served the
    # outputs; the leader was asked and has the input.
    inputs.resume(cause)
    return found


async def _existing_cause(
    log: ReadableLog, partition: int, mark: Mark, output: Record
) -> Record:
    # `record` asks the leader, so an input it does not have does not exist.
    record = await log.record(mark.cause_sequence)
    if record is None or not matches(inputs_of(partition), record.subject):
        raise LogDamaged(
            "causeless",
            output.sequence,
            f"it answers {mark.cause_sequence}, where no input of partition"
            f" {partition} stands",
        )
    return record


def _mark(record: Record) -> Mark:
    try:
        return read_mark(record)
    except (KeyError, ValueError) as error:
        raise LogDamaged(
            "unmarked", record.sequence, f"this output has no group mark ({error!r})"
        ) from error


def _check_place(group: list[tuple[Record, Mark]], record: Record, mark: Mark) -> None:
    """Check that an output starts a group or continues the one read so far.

    Raises:
        LogDamaged: an output of the group is missing, or comes twice.
    """
    if not group:
        whole = mark.index == 0
    else:
        before = group[0][1]
        whole = (mark.cause_sequence, mark.index, mark.count) == (
            before.cause_sequence,
            len(group),
            before.count,
        )
    if not whole:
        raise LogDamaged(
            "incomplete",
            group[0][0].sequence if group else record.sequence,
            f"{record.sequence} is {mark.index} of {mark.count} for the input at"
            f" {mark.cause_sequence}, after {len(group)} of the group before it",
        )
