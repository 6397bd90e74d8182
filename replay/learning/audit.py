"""Audit: credit that a rule forbids, found by reading the log and by nothing else.

No fold of the mind's is asked, so that a mistake in it cannot hide itself; what a session
brought along from before it is taken from the checkpoint it begins with.
"""

from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from replay.learning.passages import Passage, passages
from replay.sources import Recording
from schemas import patterns
from schemas.decisions import Completed, Decided, HeuristicFired, heuristic_arm
from schemas.envelope import Output
from schemas.feedback import FeedbackGiven
from schemas.learning import (
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    OutcomeObserved,
)
from schemas.sensing import EventRef, Sensed
from schemas.state import STRANGER

Rule = Literal[
    "never_shown",
    "not_its_words",
    "second_outcome",
    "outcome_of_another",
    "vote_of_another",
    "endorsed_unasked",
    "endorsed_shown",
    "endorsed_twice",
    "formed_unasked",
    "formed_twice",
]

RULES: Mapping[Rule, str] = {
    "never_shown": "credit for a fire whose action nobody was shown",
    "not_its_words": "credit for a heuristic, though others answered",
    "second_outcome": "a second outcome of one fire",
    "outcome_of_another": "an outcome by an event that does not show it",
    "vote_of_another": "a vote that nobody gave, or gave on something else",
    "endorsed_unasked": "an endorsement where no model answered",
    "endorsed_shown": "an endorsement of what the model had before it",
    "endorsed_twice": "a second endorsement by one answer",
    "formed_unasked": "a heuristic formed of an answer that nobody liked",
    "formed_twice": "a second heuristic formed of one answer",
}

_TOKENS = frozenset(
    message.token()
    for message in (
        Decided,
        Completed,
        HeuristicFired,
        OutcomeObserved,
        FeedbackApplied,
        Endorsed,
        HeuristicFormed,
    )
)
_REPORTED = {"succeeded": "success", "failed": "fail"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Credit that breaks a rule."""

    rule: Rule
    sequence: int
    """Of the input at which it was given."""
    message_id: str
    heuristic_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What was looked at, and what is wrong with it."""

    credits: int
    """How many signals credited a heuristic."""
    faults: tuple[Fault, ...]


async def audit(recording: Recording) -> Audit:
    """Look at every credit of a recording.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
    """
    looking = _Looking(recording)
    async with aclosing(passages(recording)) as found:
        async for passage in found:
            looking.take(passage)
    return Audit(looking.credits, tuple(looking.faults))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A fire whose action the person saw."""

    decision_id: str
    heuristic_id: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class _Deed:
    """A decision as far as its credit depends on it."""

    event_id: str
    source: str
    entities: frozenset[str]


class _Looking:
    """Everything that was read so far."""

    def __init__(self, recording: Recording) -> None:
        self.credits = 0
        self.faults: list[Fault] = []
        self._fires: dict[str, _Shown] = {}
        self._deeds: dict[str, _Deed] = {}
        self._arms: dict[str, str] = {}
        """Whose words answered each decision."""
        self._ended: set[str] = set()
        """The fires that have their outcome."""
        self._before: set[tuple[str, str]] = set()
        """Heuristics that the model had before it, by decision."""
        self._endorsed: set[tuple[str, str]] = set()
        self._liked: set[str] = set()
        self._formed: set[str] = set()
        self._start = recording.start.agents.get(recording.agent, STRANGER)

    def take(self, passage: Passage) -> None:
        """Take one group in."""
        outputs = passage.outputs(_TOKENS)
        for output in outputs:
            self._recall(str(getattr(output.message, "decision_id", "")))
            self._note(passage, output)
        for output in outputs:
            self._look(passage, output)

    def _recall(self, id_: str) -> None:
        """Bring back a decision that was made before the recording."""
        known = None if id_ in self._deeds else self._start.decisions.get(id_)
        if known is None:
            return
        self._deeds[id_] = _Deed(known.event_id, known.source, frozenset())
        # Votes on it may have come before the recording, too.
        self._liked.add(id_)
        self._arms[id_] = f"{known.path}:"
        if known.fire_id is not None:
            heuristic_id = known.heuristic_id or ""
            content_hash = known.content_hash or ""
            self._fires[known.fire_id] = _Shown(id_, heuristic_id, content_hash)
            self._arms[id_] = heuristic_arm(heuristic_id, content_hash)
            if known.outcome in ("success", "fail"):
                self._ended.add(known.fire_id)

    def _note(self, passage: Passage, output: Output) -> None:
        match output.message:
            case Decided() as decided:
                self._deeds[output.id] = _deed(passage, decided)
                self._arms[output.id] = decided.arm
            case Completed() as completed:
                self._arms[completed.decision_id] = completed.winner or self._arms.get(
                    completed.decision_id, ""
                )
            case HeuristicFired(mode="shown") as fired:
                self._fires[output.id] = _Shown(
                    fired.decision_id, fired.heuristic_id, fired.content_hash
                )
            case HeuristicFired() as fired:
                self._before.add((fired.decision_id, fired.heuristic_id))
            case _:
                return

    def _look(self, passage: Passage, output: Output) -> None:
        match output.message:
            case OutcomeObserved(outcome=("success" | "fail")) as seen:
                self._credit(passage, output, self._of_outcome(passage, seen))
                self._ended.add(seen.fire_id)
            case FeedbackApplied() as applied:
                if applied.value > 0.0 and applied.decision_id is not None:
                    self._liked.add(applied.decision_id)
                if applied.heuristic_id is not None:
                    self._credit(passage, output, self._of_vote(passage, applied))
            case Endorsed() as endorsed:
                self._credit(passage, output, self._of_endorsement(endorsed))
                self._endorsed.add((endorsed.decision_id, endorsed.heuristic_id))
            case HeuristicFormed() as formed:
                self._credit(passage, output, self._of_formation(formed))
                self._formed.add(formed.decision_id)
            case _:
                return

    def _credit(
        self, passage: Passage, output: Output, faults: Iterator[tuple[Rule, str]]
    ) -> None:
        self.credits += not isinstance(output.message, HeuristicFormed)
        heuristic_id = str(getattr(output.message, "heuristic_id", ""))
        for rule, detail in faults:
            self.faults.append(
                Fault(rule, passage.sequence, output.id, heuristic_id, detail)
            )

    def _of_outcome(
        self, passage: Passage, seen: OutcomeObserved
    ) -> Iterator[tuple[Rule, str]]:
        yield from self._of_fire(
            seen.fire_id, seen.decision_id, seen.heuristic_id, seen.content_hash
        )
        if seen.fire_id in self._ended:
            yield "second_outcome", seen.fire_id
        event, deed = passage.taken.message, self._deeds.get(seen.decision_id)
        if not isinstance(event, Sensed) or passage.taken.id != seen.event_id:
            yield "outcome_of_another", f"{seen.event_id!r} is not the event at hand"
        elif seen.by == "report" and not self._reports(event, seen):
            yield "outcome_of_another", f"{seen.event_id!r} does not report this"
        elif seen.by == "pattern" and not _occurs(passage, event, seen, deed):
            yield "outcome_of_another", f"{seen.event_id!r} has not {seen.pattern!r}"

    def _of_fire(
        self, fire_id: str, decision_id: str, heuristic_id: str, content_hash: str
    ) -> Iterator[tuple[Rule, str]]:
        shown = self._fires.get(fire_id)
        credited = decision_id, heuristic_id, content_hash
        if shown is None:
            yield "never_shown", f"there was no fire {fire_id!r}"
        elif credited != (shown.decision_id, shown.heuristic_id, shown.content_hash):
            yield "never_shown", f"fire {fire_id!r} was another heuristic's"
        elif self._arms.get(decision_id) != heuristic_arm(heuristic_id, content_hash):
            yield "not_its_words", f"decision {decision_id!r} was answered by others"

    def _reports(self, event: Sensed, seen: OutcomeObserved) -> bool:
        target = event.in_reply_to
        if isinstance(target, EventRef):
            deed = self._deeds.get(seen.decision_id)
            known = deed and (deed.source, deed.event_id)
            is_named = known == (target.source, target.event_id)
        else:
            is_named = target == seen.decision_id
        return is_named and _REPORTED.get(event.outcome or "") == seen.outcome

    def _of_vote(
        self, passage: Passage, applied: FeedbackApplied
    ) -> Iterator[tuple[Rule, str]]:
        given = passage.taken.message
        if applied.through is not None:
            return
        if not isinstance(given, FeedbackGiven):
            yield "vote_of_another", f"{passage.taken.id!r} is no vote"
            return
        target = applied.decision_id or applied.heuristic_id
        if target != (given.decision_id or given.heuristic_id):
            yield "vote_of_another", f"{passage.taken.id!r} is not on {target!r}"
        if (applied.actor, applied.value) != (given.actor, given.signed):
            yield "vote_of_another", f"{passage.taken.id!r} says something else"
        if applied.decision_id is not None:
            yield from self._of_fire(
                applied.fire_id or "",
                applied.decision_id,
                applied.heuristic_id or "",
                applied.content_hash or "",
            )

    def _of_endorsement(self, endorsed: Endorsed) -> Iterator[tuple[Rule, str]]:
        place = endorsed.decision_id, endorsed.heuristic_id
        if not self._arms.get(endorsed.decision_id, "").startswith(("llm:", "race:")):
            yield "endorsed_unasked", f"no model answered {endorsed.decision_id!r}"
        if place in self._before:
            yield "endorsed_shown", f"it was shown for {endorsed.decision_id!r}"
        if place in self._endorsed:
            yield "endorsed_twice", f"by the answer to {endorsed.decision_id!r}"

    def _of_formation(self, formed: HeuristicFormed) -> Iterator[tuple[Rule, str]]:
        if formed.decision_id not in self._liked:
            yield "formed_unasked", f"of the answer to {formed.decision_id!r}"
        if formed.decision_id in self._formed:
            yield "formed_twice", f"of the answer to {formed.decision_id!r}"


def _deed(passage: Passage, decided: Decided) -> _Deed:
    event = passage.taken.message
    entities = event.entities if isinstance(event, Sensed) else ()
    return _Deed(decided.event_id, decided.source, frozenset(entities))


def _occurs(
    passage: Passage, event: Sensed, seen: OutcomeObserved, deed: _Deed | None
) -> bool:
    """Whether the event has the words, and may be about what the fire was about."""
    words = patterns.event_words(event.text, event.type, event.source, event.fields)
    if seen.pattern is None or not patterns.occurs(seen.pattern, words):
        return False
    if deed is None:
        return True
    ours, theirs = deed.entities, frozenset(event.entities)
    return not ours or not theirs or not ours.isdisjoint(theirs)
