"""Read a recording once for everything that needs no mind to be run again.

Four readers share the pass, since reading and parsing is what it costs.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from evaluation.evidence.facts import Evidence
from evaluation.evidence.gather import Reader as EvidenceReader
from evaluation.evidence.gather import UnprovenError
from replay.cassette import Cassette
from replay.closed_loop.history import Gathering, History
from replay.open_loop.asked import LoggedDecision
from replay.open_loop.asked import Reader as AskingReader
from replay.recording.chronicle import Chronicle, Writing
from replay.recording.outcomes import OutcomeSettings
from replay.recording.source import Recording
from schemas.messages.experiments import Variant
from streams.groups import Group


@dataclass(frozen=True, slots=True)
class Past:
    """What a recording holds, besides the groups themselves."""

    decisions: Sequence[LoggedDecision]
    """Each with the odds of the baseline and of all challengers."""
    told: Chronicle
    history: History
    """From the input on from which challengers live."""
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
        since: the input from which on others will live.
        progress: told the sequence of each input.

    Raises:
        UnknownStrategyError: there is no such strategy.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
    """
    asking = AskingReader(recording, tuple(strategies))
    writing = Writing(recording, outcome)
    gathering = Gathering(recording.agent, since)
    evidence = _Proven(recording)
    readers = (asking, writing, evidence)
    decisions: list[LoggedDecision] = []
    for reader in readers:
        await reader.bring()
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            if not recording.concerns(group):
                continue
            decisions += asking.read(group)
            writing.take(group)
            gathering.take(group)
            evidence.take(group)
            for reader in readers:
                await reader.bring()
            progress(group.input.sequence)
    decisions += asking.rest()
    return Past(
        decisions,
        writing.done(),
        gathering.history,
        gathering.cassette(),
        evidence.gathered(),
    )


class _Proven:
    """Gathers evidence until a recorded confidence turns out not to follow from it."""

    def __init__(self, recording: Recording) -> None:
        self._reader: EvidenceReader | None = EvidenceReader(recording)

    async def bring(self) -> None:
        """Load the packs in force."""
        if self._reader is not None:
            await self._reader.bring()

    def take(self, group: Group) -> None:
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
