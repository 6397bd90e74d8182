"""Fold rapport under another pace, beside the rapport of the default pace.

Both curves are folded from the same votes by the mind's own function.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from projections.folds.learning import vote_targets as judging
from projections.folds.learning.rapport import USUAL, Pace
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording
from schemas.messages.learning import FeedbackApplied
from schemas.state.agent import STRANGER, AgentState
from schemas.values.base import Scalar
from schemas.values.settings_by_name import TuningError

PREFIX = "rapport."
"""The prefix of the names of the pace's parameters."""

_VOTES = frozenset((FeedbackApplied.token,))

RANGES: Mapping[str, tuple[float, float]] = {
    "gain": (0.0, 1.0),
    "loss": (0.0, 1.0),
    "half_life_days": (0.01, 36_500.0),
}


@dataclass(frozen=True, slots=True)
class RapportCurve:
    """The rapport with one person, 0 to 1, after each of that person's votes."""

    person: str
    recorded: tuple[float, ...]
    retuned: tuple[float, ...]


def pace_of(changes: Mapping[str, Scalar]) -> Pace:
    """Return the pace that settings such as `rapport.gain` name.

    Raises:
        TuningError: there is no such setting, or it cannot have such a value.
    """
    wanted: dict[str, float] = {}
    for name in sorted(changes):
        short, value = name.removeprefix(PREFIX), changes[name]
        if short not in RANGES:
            known = ", ".join(f"{PREFIX}{each}" for each in RANGES)
            raise TuningError(f"there is no setting {name!r}, there are {known}")
        low, high = RANGES[short]
        if not (isinstance(value, float | int) and low <= value <= high):
            raise TuningError(f"{name} = {value!r}: give {low:g} to {high:g}")
        wanted[short] = float(value)
    return replace(USUAL, **wanted)


async def rapport_curves(
    recordings: Sequence[Recording], pace: Pace
) -> tuple[RapportCurve, ...]:
    """Return rapport by person over the recordings of an agent, in the order of the log.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: a recording is not sound.
    """
    known: dict[str, tuple[list[float], list[float]]] = {}
    for recording in sorted(recordings, key=lambda each: (each.origin, each.first)):
        paces = _BothPaces(recording, pace)
        for person, recorded, retuned in [each async for each in paces.votes()]:
            curves = known.setdefault(person, ([], []))
            curves[0].append(recorded)
            curves[1].append(retuned)
    return tuple(
        RapportCurve(person, tuple(known[person][0]), tuple(known[person][1]))
        for person in sorted(known)
    )


def as_fields(pace: Pace, curves: Sequence[RapportCurve]) -> dict[str, object]:
    """Return the changed parameters and the curves as JSON's types."""
    changes = {
        f"{PREFIX}{name}": {"before": asdict(USUAL)[name], "after": asdict(pace)[name]}
        for name in RANGES
        if asdict(USUAL)[name] != asdict(pace)[name]
    }
    return {"changes": changes, "people": [asdict(each) for each in curves]}


class _BothPaces:
    """The rapport in one recording, folded at both paces."""

    def __init__(self, recording: Recording, pace: Pace) -> None:
        start = recording.start.agents.get(recording.agent, STRANGER)
        self._recording = recording
        self._paces = (USUAL, pace)
        # One state for both at first: states are immutable, so
        # neither fold changes the other's.
        self._in_force = [AgentState(rapport=start.rapport)] * 2
        # Votes from before the recording: a changed vote replaces
        # its earlier value here, too.
        self._said = {
            (decision_id, actor): start.decisions[decision_id].votes[actor]
            for decision_id in start.decisions.sorted_keys()
            for actor in start.decisions[decision_id].votes
        }

    async def votes(self) -> AsyncGenerator[tuple[str, float, float], None]:
        """Yield each vote's actor, and the rapport after it at both paces."""
        async with aclosing(recorded_groups(self._recording)) as groups:
            async for group in groups:
                for output in group.outputs(_VOTES):
                    vote = output.message
                    if isinstance(vote, FeedbackApplied) and vote.decision_id:
                        yield vote.actor, *self._felt(vote, output.at)

    def _felt(self, vote: FeedbackApplied, at: datetime) -> tuple[float, float]:
        place = vote.decision_id or "", vote.actor
        before = self._said.get(place)
        self._said[place] = vote.value
        self._in_force = [
            judging.felt(state, vote, at, before, pace)
            for state, pace in zip(self._in_force, self._paces, strict=True)
        ]
        usual, other = (each.rapport.get(vote.actor) for each in self._in_force)
        assert usual is not None
        assert other is not None
        return usual.value, other.value
