"""Outcomes: the reward of each decision, in [0, 1], whichever arm was taken.

What the world showed comes first: a report that names the decision, an undo of it, else the
first of the pack's outcome patterns seen within its window. A person's votes come second.
Silence has a value from the settings where the world shows none. A window that the end of
the recording cuts off is censored, and the decision has no value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from projections.folds import fires
from replay.recording.session_outcomes import SessionLedger, ends_life
from schemas.codec.envelope import Input, Output
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Decided
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs import word_patterns
from schemas.packs.compiled import CompiledPack
from schemas.packs.word_patterns import Said
from schemas.state.triggers import Expectation
from schemas.values.exact_math import total

SEEN = ("report", "undo", "pattern", "feedback")
"""The sources of outcomes that were observed, not set by the settings."""

SILENCE_VALUES = (0.3, 0.5, 0.7)
"""Values of silence, around the default 0.5, under which a verdict is tried again."""

_OutcomeSource = Literal[
    "report", "undo", "pattern", "feedback", "silence", "unseen", "unknown"
]

_REPORTED: Mapping[str, float] = {"succeeded": 1.0, "failed": 0.0}
"""Values of a report; overridden and cancelled say nothing about the advice."""


@dataclass(frozen=True, slots=True)
class OutcomeSettings:
    """How outcomes are valued."""

    prefer: Literal["outcome", "feedback"] = "outcome"
    """Which counts if both are known, the world or the person."""
    window_s: float | None = None
    """The longest time in seconds to wait for a pattern; None leaves each its own."""
    silence: float = 0.5
    """The value of silence, where the world shows none."""
    unseen: float | None = 0.5
    """The value of an answer of which no pattern was seen in its window; None: unknown."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one decision."""

    value: float | None
    source: _OutcomeSource
    is_censored: bool = False
    """Whether the recording ended before its window did."""
    votes: int = 0
    """How many people voted on it."""
    pattern: str | None = None
    """The words that told it, if the world showed it by a pattern."""

    @property
    def is_observed(self) -> bool:
        """Whether it was seen, and not set by the settings."""
        return self.source in SEEN


UNKNOWN = Outcome(None, "unknown")


@dataclass(slots=True)
class _Case:
    """One decision, as long as its outcome may still be seen."""

    is_silent: bool
    is_learnt: bool
    """Whether its silence is a learnt one."""
    domain: str
    entities: frozenset[str]
    waiting: tuple[Expectation, ...] = ()
    world: tuple[float, _OutcomeSource] | None = None
    votes: dict[str, float] = field(default_factory=dict)
    """Each person's latest vote, from -1 to 1."""
    pattern: str | None = None
    """The pattern that was seen."""
    was_armed: bool = False
    is_cut: bool = False
    """Whether its window was cut off by a change to another clock."""
    ends_life: bool = False
    """Whether its event ended a life, after which silence is neither good nor bad."""

    @property
    def is_reported(self) -> bool:
        """Whether a report has named it, which takes precedence over patterns."""
        return self.world is not None and self.world[1] == "report"


class Ledger:
    """The outcomes of one agent's decisions, as its recording is read from the start."""

    def __init__(self, settings: OutcomeSettings) -> None:
        """Start empty; `settings` say how outcomes are valued."""
        self._settings = settings
        self._cases: dict[str, _Case] = {}
        self._of_event: dict[tuple[str, str], str] = {}
        # Decisions whose window is open: each event is compared with these alone.
        self._open: dict[str, _Case] = {}
        self._now: datetime | None = None

    def sensed(self, event: Sensed, domain: str, now: datetime) -> None:
        """Match an event with the decisions that wait for an outcome.

        `now` is the agent's time, not the broker's.
        """
        if self._now is not None and now < self._now:
            self._cut()
        self._now = now
        self._expire(now)
        if event.in_reply_to is not None:
            self._report(event)
            return
        entities = frozenset(event.entities)
        words = word_patterns.words_of(event) if self._open else word_patterns.NOTHING
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
        """Start to wait for the outcome of a decision on an event."""
        armed = fires.armed(pack, event, now) if pack else ()
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
        """Record a person's vote on a decision; a later one replaces it."""
        case = self._cases.get(decision_id)
        if case is not None:
            case.votes[actor] = value

    def undone(self, decision_id: str) -> None:
        """Record that a person undid what a decision led to."""
        case = self._cases.get(decision_id)
        if case is not None and not case.is_reported:
            case.world = (0.0, "undo")
            self._open.pop(decision_id, None)

    def ended(self) -> Mapping[str, Outcome]:
        """Return the outcome of every decision, at the end of the recording."""
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
                case.pattern = each.pattern
                del self._open[decision_id]
                return

    def _cut(self) -> None:
        """Censor all open windows: time goes back only where another clock takes over."""
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
            pattern = case.pattern if source == "pattern" else None
            return Outcome(value, source, votes=votes, pattern=pattern)
        if decision_id in self._open or case.is_cut:
            return Outcome(None, "unknown", is_censored=True, votes=votes)
        if case.is_learnt:
            # A learnt silence is never given the assumed value: only a vote can say whether
            # it was right.
            return Outcome(None, "unknown", votes=votes)
        if case.is_silent and not case.ends_life:
            return Outcome(self._settings.silence, "silence", votes=votes)
        if case.was_armed and self._settings.unseen is not None:
            return Outcome(self._settings.unseen, "unseen", votes=votes)
        return Outcome(None, "unknown", votes=votes)

    def _known(self, case: _Case) -> Iterator[tuple[float, _OutcomeSource]]:
        """Yield the observed values, the preferred source first."""
        vote: list[tuple[float, _OutcomeSource]] = []
        if case.votes:
            vote = [(_mean_on_unit(case.votes), "feedback")]
        world = [case.world] if case.world else []
        yield from world + vote if self._settings.prefer == "outcome" else vote + world


class Outcomes:
    """The outcomes of one agent's decisions and of its sessions, group by group."""

    def __init__(self, settings: OutcomeSettings) -> None:
        """Start empty; `settings` say how outcomes are valued."""
        self.ledger = Ledger(settings)
        self.sessions = SessionLedger()

    def take(
        self, input_: Input, outputs: Sequence[Output], packs: Iterable[CompiledPack]
    ) -> None:
        """Take one group; `packs` are those in force at its input."""
        # First the event, which may show how earlier decisions went: an undo counts more.
        for output in outputs:
            if isinstance(output.message, Decided):
                self._decided(input_, output, output.message, packs)
        for output in outputs:
            match output.message:
                # A vote on several answers that were said as one values none of them.
                case FeedbackApplied(decision_id=str(id_), share=None) as vote:
                    self.ledger.voted(id_, vote.actor, vote.value)
                case OutcomeObserved(by="undo") as observed:
                    self.ledger.undone(observed.decision_id)
                case _:
                    pass

    def _decided(
        self,
        input_: Input,
        output: Output,
        decided: Decided,
        packs: Iterable[CompiledPack],
    ) -> None:
        event = input_.message
        # A decision may be on another occasion than the input, such as a due timer.
        if not isinstance(event, Sensed) or decided.event_id != input_.id:
            return
        named = (each for each in packs if each.pack.name == decided.domain)
        pack = next(named, None)
        self.sessions.sensed(decided.session_id or "", event, pack, output.at)
        self.ledger.sensed(event, decided.domain, output.at)
        self.ledger.decided(
            output.id,
            event,
            input_.id,
            domain=decided.domain,
            pack=pack,
            is_silent=decided.arm == SILENT,
            is_learnt=decided.silence == "learned_silence",
            now=output.at,
        )


def _shares(first: frozenset[str], second: frozenset[str]) -> bool:
    # An event or decision without entities may be about anybody.
    return not first or not second or not first.isdisjoint(second)


def _mean_on_unit(votes: Mapping[str, float]) -> float:
    # Votes in [-1, 1] are mapped to [0, 1]. Sorted, since a float sum depends on its order.
    return (total(votes[actor] for actor in sorted(votes)) / len(votes) + 1.0) / 2.0
