"""What holds of every turn, whatever the input was.

Each input has one group of at least one output, marked in order; the answers are from a
closed table; nothing is changed in place; the bytes fold to the state they came with.
"""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from handlers.mind import turn as turns
from handlers.mind.turn import Turn
from projections.folds.partition import fold_recorded
from schemas.codec import catalogue, checkpoint
from schemas.codec.decode import read_output
from schemas.codec.envelope import Output, Unreadable
from schemas.messages.controls import Control
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from schemas.messages.notes import Handled, Quarantined, TimerFailed
from schemas.messages.results import ClockTicked, Result
from schemas.messages.sensing import Sensed
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values import ids


def check(
    before: PartitionState,
    turn: Turn,
    aids: Aids,
    epoch: UUID,
    *,
    may_fail: bool = False,
) -> None:
    """Fail unless everything that must hold of a turn does.

    That nothing of ours raised is part of it, unless it `may_fail`.
    """
    check_turn(turn, epoch, may_fail=may_fail)
    again = turns.answer(before, turn.input, aids, epoch)
    assert [o.record for o in again.outputs] == [o.record for o in turn.outputs]
    records = [each.record for each in turn.outputs]
    folded = fold_recorded(before, turn.input, records, aids)
    dumped = checkpoint.dump(turn.state)
    assert checkpoint.dump(folded) == dumped
    assert checkpoint.dump(checkpoint.load(dumped)) == dumped


def check_turn(turn: Turn, epoch: UUID, *, may_fail: bool = False) -> Sequence[Output]:
    """Fail unless a turn has one answer, whole and in order, of the closed table.

    Returns:
        The outputs as they are read again.
    """
    read = _check_marks(turn, epoch)
    errors = _errors(turn)
    assert may_fail or not errors, errors
    if not is_kept_apart(turn):
        _check_answer(turn)
    _check_odds(turn)
    return read


def is_kept_apart(turn: Turn) -> bool:
    """Whether the input raised or was too many, which may happen to every kind."""
    said = [each.message for each in turn.outputs]
    first = said[0]
    return (
        len(said) == 1
        and isinstance(first, Quarantined)
        and first.reason in ("error", "rate")
    )


def _errors(turn: Turn) -> list[str]:
    return [
        message.detail
        for message in (each.message for each in turn.outputs)
        if isinstance(message, TimerFailed)
        or (isinstance(message, Quarantined) and message.reason == "error")
    ]


def _check_marks(turn: Turn, epoch: UUID) -> Sequence[Output]:
    count, found = len(turn.outputs), []
    assert count >= 1
    for index, output in enumerate(turn.outputs):
        mark = output.mark
        assert (mark.index, mark.count) == (index, count)
        assert mark.cause_sequence == turn.input.sequence
        assert mark.cause_id == turn.input.id
        assert output.id == ids.output_id(epoch, turn.input.sequence, index)
        assert output.agent == turn.input.agent
        read = read_output(output.record)
        assert (read.mark, read.message) == (mark, output.message)
        assert read.at == output.at
        assert type(output.message) in catalogue.OUTPUTS
        found.append(read)
    return found


def _check_answer(turn: Turn) -> None:
    """The closed table: which outputs may answer which input."""
    # What a due timer made it decide stands beside the answer.
    said = Counter(
        type(each.message).__name__
        for each in turn.outputs
        if not (isinstance(each.message, Decided) and each.message.timer is not None)
        # A vote on answers that were said as one is passed on to their heuristics.
        and not (
            isinstance(each.message, FeedbackApplied) and each.message.is_passed_on
        )
    )
    handled = [
        each.message.reason
        for each in turn.outputs
        if isinstance(each.message, Handled)
    ]
    match turn.input.message:
        case Unreadable():
            assert said == {"Quarantined": 1}
        case Sensed():
            assert _total(said, "Decided", "Quarantined", "Handled") == 1
            # A world's clock decides nothing: what was due has run before it.
            assert handled in ([], ["duplicate"], ["recorded"])
        case FeedbackGiven():
            assert _total(said, "FeedbackApplied", "FeedbackRefused") == 1
        case Control():
            assert _total(said, "ControlApplied", "ControlRefused") == 1
        case ClockTicked() | Result():
            assert len(handled) == 1
        case other:
            raise AssertionError(f"{other!r} is no input")


def _check_odds(turn: Turn) -> None:
    """What was weighed adds up to one, and what was taken has its recorded share."""
    for message in (each.message for each in turn.outputs):
        if not isinstance(message, Decided):
            continue
        odds = {each.arm: each.probability for each in message.candidates}
        assert message.probability == odds.get(message.arm, 1.0) > 0.0
        assert (round(sum(odds.values()), 6) == 1.0) == (message.path != "none")
        assert message.greedy_arm in odds or message.path == "none"
        assert (message.draw is None) == (message.probability == 1.0)


def _total(said: Counter[str], *names: str) -> int:
    return sum(said[name] for name in names)
