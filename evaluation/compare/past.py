"""Read a recording once for everything that needs no mind to be run again.

Four readers share the pass, since reading and parsing is what it costs.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from evaluation.evidence.facts import Evidence
from evaluation.evidence.gather import EvidenceReader, UnprovenError
from replay.cassette import Cassette
from replay.closed_loop.history import History, HistoryReader
from replay.open_loop.asked import LoggedDecision
from replay.open_loop.asked import Reader as AskingReader
from replay.recording.outcomes import OutcomeSettings
from replay.recording.recorded_decisions import DecisionsReader, RecordedDecisions
from replay.recording.recorded_groups import RecordedGroup, recorded_groups
from replay.recording.source import Recording
from schemas.messages.experiments import Variant


@dataclass(frozen=True, slots=True)
class Past:
    """What a recording holds, besides the groups themselves."""

    decisions: Sequence[LoggedDecision]
    """Each with the odds of the baseline and of all challengers."""
    recorded: RecordedDecisions
    history: History
    """From the input on from which challengers act."""
    cassette: Cassette
    evidence: Sequence[Evidence]
    """Empty if the recorded confidences do not follow from the facts."""


async def past_of(
    recording: Recording,
    strategies: Sequence[Variant],
    outcome: OutcomeSettings,
    since: int,
    progress: Callable[[int], None],
) -> Past:
    """Read a recording once, for all that needs no mind.

    Args:
        recording: what to read.
        strategies: who is asked at each decision.
        outcome: what counts as a good outcome.
        since: the input from which on challengers will act.
        progress: called with the sequence of each input.

    Raises:
        UnknownStrategyError: there is no such strategy.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
    """
    asking = AskingReader(recording, tuple(strategies))
    recorded = DecisionsReader(outcome)
    history = HistoryReader(since)
    evidence = _Proven(recording)
    decisions: list[LoggedDecision] = []
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            # Folded once, and passed on to the readers that need decisions, too.
            records = recorded.read(group)
            decisions += asking.read(group, records)
            history.read(group, records)
            evidence.read(group)
            progress(group.sequence)
    decisions += asking.rest()
    return Past(
        decisions,
        recorded.found(),
        history.history,
        history.cassette(),
        evidence.gathered(),
    )


class _Proven:
    """Gathers evidence until a recorded confidence turns out not to follow from it."""

    def __init__(self, recording: Recording) -> None:
        self._reader: EvidenceReader | None = EvidenceReader(recording)

    def read(self, group: RecordedGroup) -> None:
        """Read one group, unless a confidence was refuted already."""
        try:
            if self._reader is not None:
                self._reader.read(group)
        except UnprovenError:
            # Only the curves of confidence rest on this evidence; a comparison goes on
            # without them, and self-replay says whether the recording is sound.
            self._reader = None

    def gathered(self) -> tuple[Evidence, ...]:
        """Return all evidence, or none."""
        return () if self._reader is None else self._reader.evidence()
