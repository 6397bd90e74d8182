"""Read each decision of a recording with who answered, at what cost and to what outcome.

Context match (similarity), confidence and success are kept apart: they answer different
questions, and averaging them would hide which one is off.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from replay.recording.decisions import DecisionRecord
from replay.recording.in_force import InForce
from replay.recording.outcomes import SEEN, OutcomeSettings
from replay.recording.recorded_decisions import DecisionsReader
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording
from schemas.messages.decisions import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One decision, whether anything was said or not, with how that went."""

    record: DecisionRecord
    success: float | None
    """How the fire came out that was credited, 0 to 1, where a heuristic answered."""
    worth: float | None
    """What a comparison takes the answer to be worth, 0 to 1, whoever gave it."""
    voice: str
    """Under which personality, or variant of an experiment, it was made."""

    @property
    def spoke(self) -> str | None:
        """`heuristic`, `llm` or `fallback`, whoever's words they were; None: silence."""
        return self.record.path if self.record.said is not None else None

    @property
    def calls(self) -> Mapping[str, int]:
        """What models were asked for its sake, by purpose."""
        found = Counter(ask.purpose for ask in self.record.asks.values())
        return dict(sorted(found.items()))

    @property
    def candidate(self) -> Candidate | None:
        """The heuristic that answered, as it was weighed; None if none did."""
        return self.record.answered if self.spoke == "heuristic" else None


async def answers(
    recording: Recording, happened: Mapping[str, float]
) -> tuple[Answer, ...]:
    """Return the decisions of a recording, in order.

    Args:
        recording: where they were made.
        happened: how each fire came out, by its id.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
        MissingPackError: a pack in force is not in the recording's store.
    """
    reader = DecisionsReader(OutcomeSettings())
    voices: dict[str, str] = {}
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            for record in reader.read(group):
                # As it was decided: a late answer touches the record again, when another
                # personality may be in force.
                voices.setdefault(record.id, _voice(group.before, record))
    found = reader.found()
    # Values that settings assume for silence, or where nothing was seen, are no evidence
    # of what an answer was worth.
    seen = {
        id_: outcome.value
        for id_, outcome in found.outcomes.items()
        if outcome.source in SEEN
    }
    return tuple(
        Answer(
            record=record,
            success=happened.get(record.shown_fire or ""),
            worth=None if record.said is None else seen.get(record.id),
            voice=voices[record.id],
        )
        for record in found.records
    )


def _voice(in_force: InForce, record: DecisionRecord) -> str:
    """Return the variant of an experiment, else the template, else how the text begins."""
    experiment = record.decided.experiment
    if experiment is not None:
        return f"{experiment.id}: {experiment.variant}"
    own = record.decided.voice
    if own is not None and own.template is not None:
        return own.template
    return " ".join(in_force.settings.personality.split()) or "no personality"
