"""All changes of the read models by one group, in order."""

from collections.abc import Iterator

from projections.rows import (
    agents,
    confidence_changes,
    decisions,
    episodes,
    fires,
    heuristics,
)
from projections.rows.changes import Change
from projections.rows.folded_group import Folded, steps
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.learning import (
    AdviceIgnored,
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    OutcomeExpired,
    OutcomeObserved,
    ProposalMade,
    SilenceWeighed,
)
from schemas.messages.notes import ControlApplied, Handled, Quarantined
from schemas.messages.repertoire import RepertoireChange
from schemas.ports import faults
from schemas.values.subjects import SHARED_AGENT

# To see what each output did, the group is folded a second time; only these need it.
_TEACHING = (
    AdviceIgnored,
    FeedbackApplied,
    OutcomeObserved,
    ControlApplied,
    Endorsed,
    SilenceWeighed,
    HeuristicFormed,
    ProposalMade,
)


def changes_of(folded: Folded) -> list[Change]:
    """Return what one group changes in the read models.

    If making the rows raises, the only change is a row of the quarantine that names the
    error, so that the tables go on without this one input. Once the fault is repaired, a
    rebuild makes the rows.

    Raises:
        MissingPackError: a pack in force is not among the aids.
    """
    try:
        return _changes_of(folded)
    except faults.OF_THE_SHELL:
        # The input is not at fault: something around us is missing, and may come back.
        raise
    except Exception as error:  # noqa: BLE001  # no input stops the tables
        return [decisions.without_rows(folded, faults.named(error))]


def _changes_of(folded: Folded) -> list[Change]:
    changes: list[Change] = []
    for output in folded.outputs:
        changes += _of_output(folded, output)
    if folded.input.agent == SHARED_AGENT:
        # The shared agent has no session of its own; what it changes is others' rows.
        changes += heuristics.shared_changed(folded)
        return changes
    changes += agents.session_changes(folded)
    changes += agents.habit_changes(folded)
    changes += heuristics.packs_changed(folded)
    changes += heuristics.tuned(folded)
    if any(isinstance(output.message, _TEACHING) for output in folded.outputs):
        changes += _of_teaching(folded)
    # Last: it patches rows that the others may have put.
    changes += heuristics.beliefs_changed(folded)
    return changes


def _of_output(folded: Folded, output: Output) -> list[Change]:
    match output.message:
        case Decided() as message:
            row = decisions.decided(folded, output, message)
            return [row, *episodes.begun(folded, output, message)]
        case Completed() as message:
            end = decisions.concluded(folded, output, message)
            return [end, *episodes.said(folded, message)]
        case Dropped() as message:
            return [decisions.concluded(folded, output, message)]
        case HeuristicFired() as message:
            return [fires.fired(folded, output, message)]
        case ModelAsked() | DeliveryAsked() | RecallAsked() as message:
            return [decisions.asked(folded, output, message)]
        case OutcomeObserved() | OutcomeExpired() as message:
            return [*fires.ended(folded, message)]
        case Handled(reason="recorded"):
            return [*decisions.answered(folded)]
        case Handled(reason="late"):
            return [*decisions.answered_late(folded)]
        case Quarantined() as message:
            return [decisions.quarantined(folded, output, message)]
        case _:
            return []


def _of_teaching(folded: Folded) -> Iterator[Change]:
    for step in steps(folded):
        match step.output.message:
            case FeedbackApplied() as message:
                yield from fires.voted(folded, step, message)
                yield from confidence_changes.of_vote(step, message)
            case OutcomeObserved() as message:
                yield from confidence_changes.of_outcome(step, message)
            case AdviceIgnored() as message:
                yield from confidence_changes.of_ignored(step, message)
            case SilenceWeighed() as message:
                yield from confidence_changes.of_silence(step, message)
            case Endorsed() as message:
                yield from confidence_changes.of_endorsement(step, message)
            case HeuristicFormed() as message:
                yield from heuristics.formed(folded, step, message)
            case ProposalMade(applied=True, repertoire=RepertoireChange() as change):
                yield from heuristics.changed(folded, step, change)
            case ControlApplied():
                yield from heuristics.taught(folded, step)
            case _:
                pass
