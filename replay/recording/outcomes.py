"""Outcomes: what each decision came to, in [0, 1], whichever arm was taken.

The world is asked first: a report that names the decision, an undo of it, else the first
of the pack's outcome patterns seen within its window. A person's votes are asked second.
Silence has a value of its own, stated in the settings, where the world shows none. A
window that the recording cuts off is censored and counts for nobody.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from projections.folds import outcome_patterns
from replay.recording.session_outcomes import ends_life
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs import word_patterns
from schemas.packs.manifest import CompiledPack
from schemas.packs.word_patterns import Said
from schemas.state.agent import Expectation
from schemas.values.exact_math import total

SEEN = ("report", "undo", "pattern", "feedback")
"""Outcomes that somebody or something really showed."""

OutcomeSource = Literal[
    "report", "undo", "pattern", "feedback", "silence", "unseen", "unknown"
]

_REPORTED: Mapping[str, float] = {"succeeded": 1.0, "failed": 0.0}
"""Overridden and cancelled say nothing of the advice."""


@dataclass(frozen=True, slots=True)
class OutcomeSettings:
    """What counts as a good outcome, and what as none."""

    prefer: Literal["outcome", "feedback"] = "outcome"
    """Which is asked first, the world or the person."""
    window_s: float | None = None
    """No pattern is waited for longer; None leaves each its own time."""
    silence: float = 0.5
    """The value of having said nothing, where the world shows none."""
    unseen: float | None = 0.5
    """The value of an answer whose patterns were all waited for in vain; None: unknown."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one decision came to."""

    value: float | None
    source: OutcomeSource
    is_censored: bool = False
    """Whether the recording ended before its window did."""
    votes: int = 0
    """How many people judged it."""


UNKNOWN = Outcome(None, "unknown")


@dataclass(slots=True)
class _Case:
    """One decision, as long as its outcome may still be seen."""

    is_silent: bool
    is_learnt: bool
    """Whether it is silent since that was learnt."""
    domain: str
    entities: frozenset[str]
    waiting: tuple[Expectation, ...] = ()
    world: tuple[float, OutcomeSource] | None = None
    votes: dict[str, float] = field(default_factory=dict)
    """Each person's latest vote, from -1 to 1."""
    was_armed: bool = False
    is_cut: bool = False
    """Whether nobody could see what came of it: its clock was left."""
    ends_life: bool = False
    """Whether its event ended a life: having said nothing then was neither good nor bad."""

    @property
    def is_reported(self) -> bool:
        """Whether a report has named it, which no pattern outdoes."""
        return self.world is not None and self.world[1] == "report"


class Ledger:
    """The outcomes of one agent's decisions, as its recording is read from the start."""

    def __init__(self, settings: OutcomeSettings) -> None:
        """Judge by `settings`."""
        self._settings = settings
        self._cases: dict[str, _Case] = {}
        self._of_event: dict[tuple[str, str], str] = {}
        self._open: dict[str, _Case] = {}
        self._now: datetime | None = None

    def sensed(self, event: Sensed, domain: str, now: datetime) -> None:
        """See what an event shows of the decisions before it."""
        if self._now is not None and now < self._now:
            self._cut()
        self._now = now
        self._expire(now)
        if event.in_reply_to is not None:
            self._report(event)
            return
        entities = frozenset(event.entities)
        words = outcome_patterns.words(event) if self._open else word_patterns.NOTHING
        for decision_id, case in list(self._open.items()):
            if case.domain == domain and _shares(case.entities, entities):
                self._match(decision_id, case, words, now)

    def decided(
        self,
        decision_id: str,
        event: Sensed,
        event_id: str,
        *,
        domain: str,
        pack: CompiledPack | None,
        is_silent: bool,
        is_learnt: bool = False,
        now: datetime,
    ) -> None:
        """Begin to wait for what a decision on an event comes to."""
        armed = outcome_patterns.armed(pack, event, now) if pack else ()
        case = _Case(
            is_silent=is_silent,
            is_learnt=is_learnt,
            domain=domain,
            entities=frozenset(event.entities),
            waiting=tuple(self._capped(each, now) for each in armed),
            was_armed=bool(armed),
            ends_life=ends_life(pack, event.type),
        )
        self._cases[decision_id] = case
        self._of_event[event.source, event_id] = decision_id
        if armed:
            self._open[decision_id] = case

    def voted(self, decision_id: str, actor: str, value: float) -> None:
        """Take a person's vote on a decision; a later one replaces it."""
        case = self._cases.get(decision_id)
        if case is not None:
            case.votes[actor] = value

    def undone(self, decision_id: str) -> None:
        """Take that a person undid what a decision led to."""
        case = self._cases.get(decision_id)
        if case is not None and not case.is_reported:
            case.world = (0.0, "undo")
            self._open.pop(decision_id, None)

    def ended(self) -> Mapping[str, Outcome]:
        """Return what every decision came to, now that the recording is over."""
        if self._now is not None:
            self._expire(self._now)
        return {id_: self._outcome(id_, case) for id_, case in self._cases.items()}

    def _report(self, event: Sensed) -> None:
        target = event.in_reply_to
        if isinstance(target, EventRef):
            target = self._of_event.get((target.source, target.event_id))
        case = self._cases.get(target or "")
        value = _REPORTED.get(event.outcome or "")
        if case is not None and value is not None and not case.is_reported:
            case.world = (value, "report")
            self._open.pop(target or "", None)

    def _match(self, decision_id: str, case: _Case, words: Said, now: datetime) -> None:
        for each in case.waiting:
            if now <= each.due and word_patterns.occurs(each.pattern, words):
                case.world = (1.0 if each.is_success else 0.0, "pattern")
                del self._open[decision_id]
                return

    def _cut(self) -> None:
        """Wait no longer: time goes back only where another clock tells it."""
        for case in self._open.values():
            case.is_cut = True
        self._open.clear()

    def _expire(self, now: datetime) -> None:
        over = [
            id_
            for id_, case in self._open.items()
            if all(each.due < now for each in case.waiting)
        ]
        for id_ in over:
            del self._open[id_]

    def _capped(self, expectation: Expectation, now: datetime) -> Expectation:
        window_s = self._settings.window_s
        if window_s is None:
            return expectation
        due = min(expectation.due, now + timedelta(seconds=window_s))
        return Expectation(
            pattern=expectation.pattern, is_success=expectation.is_success, due=due
        )

    def _outcome(self, decision_id: str, case: _Case) -> Outcome:
        votes = len(case.votes)
        for value, source in self._known(case):
            return Outcome(value, source, votes=votes)
        if decision_id in self._open or case.is_cut:
            return Outcome(None, "unknown", is_censored=True, votes=votes)
        if case.is_learnt:
            # Whether it was right only a person can say.
            return Outcome(None, "unknown", votes=votes)
        if case.is_silent and not case.ends_life:
            return Outcome(self._settings.silence, "silence", votes=votes)
        if case.was_armed and self._settings.unseen is not None:
            return Outcome(self._settings.unseen, "unseen", votes=votes)
        return Outcome(None, "unknown", votes=votes)

    def _known(self, case: _Case) -> Iterator[tuple[float, OutcomeSource]]:
        """Yield what was seen of it, the preferred first."""
        vote: list[tuple[float, OutcomeSource]] = []
        if case.votes:
            vote = [(_mean_on_unit(case.votes), "feedback")]
        world = [case.world] if case.world else []
        yield from world + vote if self._settings.prefer == "outcome" else vote + world


def _shares(first: frozenset[str], second: frozenset[str]) -> bool:
    # Only where both sides say who takes part can they be about different ones.
    return not first or not second or not first.isdisjoint(second)


def _mean_on_unit(votes: Mapping[str, float]) -> float:
    # Sorted, since a sum of floats depends on its order.
    return (total(votes[actor] for actor in sorted(votes)) / len(votes) + 1.0) / 2.0
