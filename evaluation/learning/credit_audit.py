"""Audit a recording for credit that a rule of learning forbids.

It reads the log alone and calls none of the mind's folds, so that a mistake in them cannot
hide itself. What is older than the recording comes from the checkpoint it starts with.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.learning.witnessed import Deed, Witnessed
from handlers.mind.stages import outcomes
from replay.recording.recorded_groups import RecordedGroup, read_groups
from replay.recording.source import Recording
from schemas.codec.envelope import Output
from schemas.messages.decisions import Completed, Decided, HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import (
    AdviceIgnored,
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    OutcomeObserved,
    OutcomeOfFire,
    SilenceWeighed,
)
from schemas.messages.sensing import EventRef, Sensed
from schemas.messages.sleep import Reflected
from schemas.packs import word_patterns

_Rule = Literal[
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
    "silence_unproven",
]

RULES: Mapping[_Rule, str] = {
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
    "silence_unproven": "evidence against silence by an event that shows no success",
}

_TOKENS = frozenset(
    message.token
    for message in (
        Decided,
        Completed,
        HeuristicFired,
        OutcomeObserved,
        AdviceIgnored,
        FeedbackApplied,
        Endorsed,
        HeuristicFormed,
        Reflected,
        SilenceWeighed,
    )
)
_REPORTED = {"succeeded": "success", "failed": "fail"}


@dataclass(frozen=True, slots=True)
class Fault:
    """A credit that breaks a rule."""

    rule: _Rule
    sequence: int
    """Of the input at which it was given."""
    message_id: str
    heuristic_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class Audit:
    """How many credits were checked, and the faults found."""

    credits: int
    """How many signals credited a heuristic."""
    faults: tuple[Fault, ...]


async def audit(recording: Recording) -> Audit:
    """Check every credit of a recording.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
    """
    looking = _Looking(recording)
    await read_groups(recording, looking.take)
    return Audit(looking.credits, tuple(looking.faults))


class _Looking:
    """The audit while the recording is read."""

    def __init__(self, recording: Recording) -> None:
        self.credits = 0
        self.faults: list[Fault] = []
        self._known = Witnessed(recording)
        self._endorsed: set[tuple[str, str]] = set()
        self._formed: set[str] = set()

    def take(self, group: RecordedGroup) -> None:
        """Check one group."""
        outputs = group.outputs(_TOKENS)
        # All outputs of a group belong to one moment: first note what they show, then
        # judge, or a credit that precedes its fire within the group would be a fault.
        for output in outputs:
            self._known.recall_of(output.message)
            self._known.note(group, output)
        for output in outputs:
            self._look(group, output)

    def _look(self, group: RecordedGroup, output: Output) -> None:
        match output.message:
            case OutcomeObserved(outcome=("success" | "fail")) as seen:
                self._credit(group, output, self._of_outcome(group, seen))
                self._known.ended.add(seen.fire_id)
            case AdviceIgnored() as ignored:
                self._credit(group, output, self._of_silence(ignored))
                self._known.ignored.add(ignored.fire_id)
            case FeedbackApplied() as applied:
                if applied.value > 0.0 and applied.decision_id is not None:
                    self._known.liked.add(applied.decision_id)
                if applied.heuristic_id is not None:
                    self._credit(group, output, self._of_vote(group, applied))
            case Endorsed() as endorsed:
                self._credit(group, output, self._of_endorsement(group, endorsed))
                self._endorsed.add((endorsed.decision_id, endorsed.heuristic_id))
            case SilenceWeighed() as weighed:
                self._credit(group, output, self._of_quiet(group, weighed))
            case HeuristicFormed() as formed:
                self._credit(group, output, self._of_formation(group, formed))
            case _:
                return

    def _credit(
        self, group: RecordedGroup, output: Output, faults: Iterator[tuple[_Rule, str]]
    ) -> None:
        self.credits += not isinstance(output.message, HeuristicFormed)
        heuristic_id = str(getattr(output.message, "heuristic_id", ""))
        for rule, detail in faults:
            self.faults.append(
                Fault(rule, group.sequence, output.id, heuristic_id, detail)
            )

    def _of_outcome(
        self, group: RecordedGroup, seen: OutcomeObserved
    ) -> Iterator[tuple[_Rule, str]]:
        yield from self._of_fire(seen)
        if seen.fire_id in self._known.ended:
            yield "second_outcome", seen.fire_id
        event, deed = group.input.message, self._known.deeds.get(seen.decision_id)
        if not isinstance(event, Sensed) or group.input.id != seen.event_id:
            yield "outcome_of_another", f"{seen.event_id!r} is not the event at hand"
        elif seen.by == "report" and not self._reports(event, seen):
            yield "outcome_of_another", f"{seen.event_id!r} does not report this"
        elif seen.by == "pattern" and not _occurs(group, event, seen, deed):
            yield "outcome_of_another", f"{seen.event_id!r} has not {seen.pattern!r}"
        elif seen.by == "undo" and not _takes_back(group, event):
            yield "outcome_of_another", f"{seen.event_id!r} takes nothing back"

    def _of_silence(self, ignored: AdviceIgnored) -> Iterator[tuple[_Rule, str]]:
        yield from self._of_fire(ignored)
        # An observed outcome may replace one counted as ignored, never the reverse.
        if ignored.fire_id in self._known.ended | self._known.ignored:
            yield "second_outcome", ignored.fire_id

    def _of_fire(
        self, credit: OutcomeOfFire | FeedbackApplied
    ) -> Iterator[tuple[_Rule, str]]:
        fire_id = credit.fire_id or ""
        shown = self._known.fires.get(fire_id)
        if shown is None:
            yield "never_shown", f"there was no fire {fire_id!r}"
            return
        place = shown.decision_id, shown.heuristic_id, shown.content_hash
        # A vote that is passed on names no decision but the one that it was on.
        decision_id = credit.decision_id or shown.decision_id
        if (decision_id, credit.heuristic_id, credit.content_hash) != place:
            yield "never_shown", f"fire {fire_id!r} was another heuristic's"
        elif not self._known.answered(*place):
            yield "not_its_words", f"decision {place[0]!r} was answered by others"

    def _reports(self, event: Sensed, seen: OutcomeObserved) -> bool:
        target = event.in_reply_to
        if isinstance(target, EventRef):
            deed = self._known.deeds.get(seen.decision_id)
            known = deed and (deed.source, deed.event_id)
            is_named = known == (target.source, target.event_id)
        else:
            is_named = target == seen.decision_id
        return is_named and _REPORTED.get(event.outcome or "") == seen.outcome

    def _of_vote(
        self, group: RecordedGroup, applied: FeedbackApplied
    ) -> Iterator[tuple[_Rule, str]]:
        given = group.input.message
        if not isinstance(given, FeedbackGiven):
            # No vote of this moment: a rule formed of a liked answer equals an existing
            # heuristic, and the earlier vote on that answer is passed on to it.
            if applied.through not in self._known.liked:
                yield "vote_of_another", f"{group.input.id!r} is no vote"
            return
        if given.about is not None:
            self._known.trust(given)
        lead = applied.through if applied.is_passed_on else None
        target = lead or applied.decision_id or applied.heuristic_id
        if target != (given.decision_id or given.heuristic_id):
            yield "vote_of_another", f"{group.input.id!r} is not on {target!r}"
        if (applied.actor, applied.value) != (given.actor, given.signed):
            yield "vote_of_another", f"{group.input.id!r} says something else"
        is_direct = applied.decision_id is not None and applied.through is None
        if is_direct or applied.is_passed_on:
            yield from self._of_fire(applied)

    def _of_endorsement(
        self, group: RecordedGroup, endorsed: Endorsed
    ) -> Iterator[tuple[_Rule, str]]:
        place = endorsed.decision_id, endorsed.heuristic_id
        # A sleep may ask about any remembered decision, and shows the model no heuristic.
        if not _is_of_sleep(group, endorsed):
            if not self._known.is_models(endorsed.decision_id):
                yield "endorsed_unasked", f"no model answered {endorsed.decision_id!r}"
            if self._known.was_suggested(*place):
                yield "endorsed_shown", f"it was shown for {endorsed.decision_id!r}"
        if place in self._endorsed:
            yield "endorsed_twice", f"by the answer to {endorsed.decision_id!r}"

    def _of_quiet(
        self, group: RecordedGroup, weighed: SilenceWeighed
    ) -> Iterator[tuple[_Rule, str]]:
        given, decision_id = group.input.message, weighed.decision_id
        if weighed.actor is None:
            if not isinstance(given, Sensed) or weighed.value != -1.0:
                yield "silence_unproven", f"{group.input.id!r} shows no success"
        elif not isinstance(given, FeedbackGiven) or (
            (given.decision_id, given.actor) != (decision_id, weighed.actor)
        ):
            yield "vote_of_another", f"{group.input.id!r} is not on {decision_id!r}"

    def _of_formation(
        self, group: RecordedGroup, formed: HeuristicFormed
    ) -> Iterator[tuple[_Rule, str]]:
        id_ = formed.decision_id
        if formed.proposal_id is not None:
            return  # a sleep proposed it, and a person or a policy applied it
        if formed.is_silence:
            given = group.input.message
            if not isinstance(given, FeedbackGiven) or given.decision_id != id_:
                yield "formed_unasked", f"of the silence at {id_!r}"
            return
        if id_ not in self._known.liked:
            yield "formed_unasked", f"of the answer to {id_!r}"
        if id_ in self._formed:
            yield "formed_twice", f"of the answer to {id_!r}"
        self._formed.add(id_)


def _is_of_sleep(group: RecordedGroup, endorsed: Endorsed) -> bool:
    said = (each.message for each in group.outputs(frozenset((Reflected.token,))))
    return any(
        isinstance(each, Reflected)
        and each.decision_id == endorsed.decision_id
        and endorsed.heuristic_id in each.alike
        for each in said
    )


def _takes_back(group: RecordedGroup, event: Sensed) -> bool:
    words = word_patterns.words_of(event)
    is_said = word_patterns.any_occurs(outcomes.WORDS, words)
    return is_said or outcomes.UNDOES in event.fields


def _occurs(
    group: RecordedGroup, event: Sensed, seen: OutcomeObserved, deed: Deed | None
) -> bool:
    """Tell whether the event has the pattern's words and no contradicting entities."""
    words = word_patterns.words_of(event)
    if seen.pattern is None or not word_patterns.occurs(seen.pattern, words):
        return False
    # Decisions from before the recording are known without their entities: no fault is
    # reported that cannot be shown.
    if deed is None:
        return True
    ours, theirs = deed.entities, frozenset(event.entities)
    return not ours or not theirs or not ours.isdisjoint(theirs)
