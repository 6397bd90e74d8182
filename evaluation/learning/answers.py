"""Read each decision of a recording with who answered, at what cost and to what outcome.

Context match (similarity), confidence and success are kept apart: they answer different
questions, and averaging them would hide which one is off.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from evaluation.learning.groups_in_context import GroupInContext, passages
from replay.recording import views
from replay.recording.chronicle import Chronicle, Telling, chronicle
from replay.recording.outcomes import SEEN, OutcomeSettings
from replay.recording.source import Recording
from replay.recording.views import CandidateView, DecidedView
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, HeuristicFired

_DECIDED = Decided.token
_COMPLETED = Completed.token
_READ = frozenset((ModelAsked.token, HeuristicFired.token))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One decision, whether anything was said or not."""

    sequence: int
    session: str
    at: datetime
    """The agent's time."""
    spoke: str | None
    """`heuristic`, `llm` or `fallback`, whoever's words they were; None: silence."""
    calls: Mapping[str, int]
    """What models were asked for its sake, by purpose."""
    similarity: float | None
    """Of the event and the condition of the heuristic that answered."""
    confidence: float | None
    """What was believed of it."""
    success: float | None
    """How the fire came out that was credited, 0 to 1, where a heuristic answered."""
    worth: float | None
    """What a comparison takes the answer to be worth, 0 to 1, whoever gave it."""
    voice: str
    """Under which personality, or variant of an experiment, it was made."""


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
    told = await chronicle(recording, OutcomeSettings())
    reading = _Reading(happened)
    async with aclosing(passages(recording)) as found:
        async for passage in found:
            reading.take(passage)
    return tuple(reading.answer(each, told) for each in told.tellings)


class _Reading:
    """What a chronicle does not tell of decisions, by their ids."""

    def __init__(self, happened: Mapping[str, float]) -> None:
        self._happened = happened
        self._fires: dict[str, str] = {}
        self._decided: dict[str, DecidedView] = {}
        self._voices: dict[str, str] = {}
        self._winners: dict[str, str] = {}
        self._calls: dict[str, Counter[str]] = defaultdict(Counter)

    def take(self, passage: GroupInContext) -> None:
        """Read one group."""
        outputs = zip(passage.group.outputs, passage.tokens, strict=True)
        for record, token in outputs:
            if token == _DECIDED:
                id_ = record.headers["ce-id"]
                self._decided[id_] = views.decided(record)
                self._voices[id_] = _voice(passage, self._decided[id_])
            elif token == _COMPLETED:
                completed = views.completed(record)
                if completed.winner is not None:
                    self._winners[completed.decision_id] = completed.winner
        for output in passage.outputs(_READ):
            match output.message:
                case ModelAsked() as asked:
                    self._calls[asked.decision_id][asked.purpose] += 1
                case HeuristicFired(mode="shown") as fired:
                    self._fires[fired.decision_id] = output.id
                case _:
                    pass

    def answer(self, telling: Telling, told: Chronicle) -> Answer:
        """Return one decision, joined with what was read of it."""
        id_ = telling.decision_id
        decided = self._decided[id_]
        spoke = telling.path if telling.said is not None else None
        spoken = self._spoken(id_, decided) if spoke == "heuristic" else None
        outcome = told.outcomes.get(id_)
        is_seen = outcome is not None and outcome.source in SEEN
        return Answer(
            sequence=telling.sequence,
            session=decided.session_id or "",
            at=telling.at,
            spoke=spoke,
            calls=dict(sorted(self._calls[id_].items())) if id_ in self._calls else {},
            similarity=spoken.similarity if spoken else None,
            confidence=spoken.confidence if spoken else None,
            success=self._happened.get(self._fires.get(id_, "")),
            worth=outcome.value if outcome and is_seen and spoke else None,
            voice=self._voices[id_],
        )

    def _spoken(self, id_: str, decided: DecidedView) -> CandidateView | None:
        arm = self._winners.get(id_, decided.arm)
        return next((each for each in decided.candidates if each.arm == arm), None)


def _voice(passage: GroupInContext, decided: DecidedView) -> str:
    """Return the variant of an experiment where one ran, else how the personality begins."""
    if decided.experiment is not None:
        return f"{decided.experiment.id}: {decided.experiment.variant}"
    words = passage.before.settings.personality.split()
    return " ".join(words) or "no personality"
