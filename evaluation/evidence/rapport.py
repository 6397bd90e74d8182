"""Fold rapport under another pace, beside the rapport of the recorded one.

Both curves are folded from the same votes by the mind's own function.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import datetime

from projections.folds.learning import vote_targets as judging
from replay.recording.recorded_groups import recorded_groups
from replay.recording.source import Recording
from schemas.messages.learning import FeedbackApplied
from schemas.state.agent import STRANGER, AgentState
from schemas.values.base import Scalar
from schemas.values.rapport_pace import USUAL, Pace
from schemas.values.setting import bounds_of
from schemas.values.settings_by_name import TuningError

PREFIX = "rapport."
"""The prefix of the names of the pace's parameters."""

_VOTES = frozenset((FeedbackApplied.token,))

_RANGES: Mapping[str, tuple[float, float]] = {
    name: bounds_of(field) for name, field in Pace.model_fields.items()
}


@dataclass(frozen=True, slots=True)
class RapportCurve:
    """The rapport with one person, 0 to 1, after each of that person's votes."""

    person: str
    recorded: tuple[float, ...]
    retuned: tuple[float, ...]


def pace_of(changes: Mapping[str, Scalar]) -> Pace:
    """Return the pace that settings such as `rapport.gain` name; only these are set.

    Raises:
        TuningError: there is no such setting, or it cannot have such a value.
    """
    wanted: dict[str, float] = {}
    for name in sorted(changes):
        short, value = name.removeprefix(PREFIX), changes[name]
        if short not in _RANGES:
            known = ", ".join(f"{PREFIX}{each}" for each in _RANGES)
            raise TuningError(f"there is no setting {name!r}, there are {known}")
        low, high = _RANGES[short]
        if not (isinstance(value, float | int) and low <= value <= high):
            raise TuningError(f"{name} = {value!r}: give {low:g} to {high:g}")
        wanted[short] = float(value)
    return Pace(**wanted)


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


def as_fields(
    pace: Pace, curves: Sequence[RapportCurve], recorded: Pace = USUAL
) -> dict[str, object]:
    """Return the parameters changed from the recorded ones, and the curves, for JSON."""
    other = changed(recorded, pace)
    changes = {
        f"{PREFIX}{name}": {
            "before": getattr(recorded, name),
            "after": getattr(other, name),
        }
        for name in _RANGES
        if getattr(recorded, name) != getattr(other, name)
    }
    return {"changes": changes, "people": [asdict(each) for each in curves]}


def changed(recorded: Pace, pace: Pace) -> Pace:
    """Return a recorded pace with what another one sets in its place."""
    return recorded.model_copy(update=pace.model_dump(exclude_unset=True))


def recorded_pace(recordings: Sequence[Recording]) -> Pace:
    """Return the pace at which rapport was recorded, at the beginning."""
    for recording in recordings:
        settings = recording.start.shared.settings
        if settings is not None:
            return settings.rapport
    return USUAL


class _BothPaces:
    """The rapport in one recording, folded at both paces."""

    def __init__(self, recording: Recording, pace: Pace) -> None:
        start = recording.start.agents.get(recording.agent, STRANGER)
        self._recording = recording
        self._pace = pace
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
                        pace = group.before.settings.rapport
                        yield vote.actor, *self._felt(vote, output.at, pace)

    def _felt(
        self, vote: FeedbackApplied, at: datetime, recorded: Pace
    ) -> tuple[float, float]:
        place = vote.decision_id or "", vote.actor
        before = self._said.get(place)
        self._said[place] = vote.value
        paces = (recorded, changed(recorded, self._pace))
        self._in_force = [
            judging.felt(state, vote, at, before, pace)
            for state, pace in zip(self._in_force, paces, strict=True)
        ]
        usual, other = (each.rapport.get(vote.actor) for each in self._in_force)
        assert usual is not None
        assert other is not None
        return usual.value, other.value
