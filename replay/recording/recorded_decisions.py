"""The decisions of a recording, with what each came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.outcomes import Outcome, Outcomes, OutcomeSettings
from replay.recording.recorded_groups import RecordedGroup, read_groups, records_in
from replay.recording.session_outcomes import SessionValue
from replay.recording.source import Recording
from schemas.messages.decisions import Decided
from schemas.messages.learning import FeedbackApplied, OutcomeObserved

_OF_OUTCOMES = frozenset(
    message.token for message in (Decided, FeedbackApplied, OutcomeObserved)
)


@dataclass(frozen=True, slots=True)
class RecordedDecisions:
    """All decisions of a recording, in order, with what they came to."""

    records: tuple[DecisionRecord, ...] = ()
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """By decision id."""
    sessions: tuple[SessionValue, ...] = ()
    """The outcome of each session, by each measure that a pack declares."""


class DecisionsReader:
    """Reads the decisions of a recording with their outcomes, group by group."""

    def __init__(self, settings: OutcomeSettings) -> None:
        """Start empty; `settings` says what counts as a good outcome."""
        self._records = DecisionRecords(keeps_final=True)
        self._outcomes = Outcomes(settings)

    def read(self, group: RecordedGroup) -> list[DecisionRecord]:
        """Return the records that this group opened or ended, as they now stand."""
        outputs = group.outputs(_OF_OUTCOMES)
        if outputs:
            self._outcomes.take(group.input, outputs, group.before.packs)
        return records_in(group, self._records)

    def found(self) -> RecordedDecisions:
        """Return the decisions, once all groups were read."""
        return RecordedDecisions(
            self._records.all(),
            self._outcomes.ledger.ended(),
            self._outcomes.sessions.values(),
        )


async def recorded_decisions(
    recording: Recording, settings: OutcomeSettings
) -> RecordedDecisions:
    """Read a recording from its first group to its last.

    `settings` says what counts as a good outcome.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
    """
    reader = DecisionsReader(settings)
    await read_groups(recording, reader.read)
    return reader.found()
