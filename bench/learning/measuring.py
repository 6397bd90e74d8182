"""Figures of each hour: who answered, how well, at what cost, and what was credited.

It observes every turn, and knows from the ground truth what each answer was worth.
"""

from dataclasses import dataclass, field

from bench.learning.truth import case_of, holds, is_good
from echoic.world.memory import AGENT
from handlers.mind.turn import Turn
from schemas.codec.catalogue import OutputMessage
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    FeedbackApplied,
    HeuristicFormed,
    OutcomeObserved,
)
from schemas.messages.sensing import Sensed
from schemas.state.agent import PartitionState

# The default threshold of `heuristic_first`.
TRUSTED = 0.7


@dataclass(slots=True)
class Answers:
    """What one of the two systems said."""

    said: int = 0
    good: int = 0
    """By the ground truth."""
    succeeded: int = 0
    failed: int = 0
    """Outcomes of following it, as the player reports them."""

    @property
    def goodness(self) -> float:
        """The share of good advice."""
        return self.good / self.said if self.said else 0.0


@dataclass(slots=True)
class Hour:
    """One hour of the game."""

    occasions: int = 0
    """Events that no gate kept from the strategy."""
    needless: int = 0
    """Of those, after which it is best to say nothing."""
    unmatched: int = 0
    """Of the others, those that no heuristic was eligible for."""
    untrusted: int = 0
    """And those for which one was, but none that is trusted."""
    quiet: int = 0
    """At which silence was kept because that was learnt."""
    quiet_wrongly: int = 0
    """Of those, at which advice would have helped."""
    asked_needlessly: int = 0
    """At which the model was asked and silence was best."""
    system_1: Answers = field(default_factory=Answers)
    system_2: Answers = field(default_factory=Answers)
    calls: int = 0
    """Of the model, for answers."""
    formations: int = 0
    """Of the model, for rules."""
    formed: int = 0
    refused: int = 0
    votes: int = 0
    endorsed: int = 0
    endorsed_wrongly: int = 0
    """Its advice was not the right one there, though the model's was like it."""
    mistaken: int = 0
    """Of those, because the model itself was mistaken; else the words were alike."""
    elsewhere: int = 0
    """Endorsed by what was said of an event that its own test does not hold of."""
    praised_wrongly: int = 0
    """Credited with a success, though the advice was not the right one there."""
    blamed_wrongly: int = 0
    """Charged with a failure, though the advice was the right one there."""
    credited: int = 0
    """Outcomes that moved a confidence."""
    deaths: int = 0
    heuristics: int = 0
    """Known at its end."""
    trusted: int = 0
    """Of those, how many answer by themselves."""
    silences: int = 0
    """Heuristics that say nothing, besides."""
    silences_trusted: int = 0

    @property
    def share(self) -> float:
        """Of the occasions, how many a heuristic answered."""
        return self.system_1.said / self.occasions if self.occasions else 0.0

    @property
    def needed_share(self) -> float:
        """The same over the occasions where advice helps."""
        needed = self.occasions - self.needless
        return (needed - self.unmatched - self.untrusted) / needed if needed else 0.0

    @property
    def needless_share(self) -> float:
        """Of the occasions at which silence is best, at how many the model was asked."""
        return self.asked_needlessly / self.needless if self.needless else 0.0

    @property
    def calls_each(self) -> float:
        """Calls of the model for an occasion, whatever for."""
        calls = self.calls + self.formations
        return calls / self.occasions if self.occasions else 0.0

    def close(self, state: PartitionState) -> None:
        """Count what is known at its end."""
        agent = state.agents[AGENT]
        known = [
            each
            for shelf in agent.shelves.values()
            for each in shelf.heuristics.values()
        ]
        for each in known:
            belief = agent.beliefs.get(f"{each.heuristic_id}@{each.content_hash}")
            confidence = belief.confidence if belief else each.confidence
            self.silences += each.is_silence
            self.silences_trusted += each.is_silence and confidence >= TRUSTED
            self.heuristics += not each.is_silence
            self.trusted += not each.is_silence and confidence >= TRUSTED


class Measuring:
    """An observer that counts each turn into its hour."""

    def __init__(self) -> None:
        self.hours: list[Hour] = []
        self._events: dict[str, Sensed] = {}
        """By decision, what it is about."""
        self._by: dict[str, tuple[bool, bool]] = {}
        """By decision, whether a heuristic spoke and whether it was good advice."""
        self._formed: dict[str, HeuristicFormed] = {}
        """By id."""
        self._state = PartitionState()

    def __call__(self, hour: int, turn: Turn) -> None:
        """Count what a turn brought."""
        # The first turn of an hour closes the one before: nothing announces its end.
        while len(self.hours) <= hour:
            self.finish()
            self.hours.append(Hour())
        self._state, now = turn.state, self.hours[hour]
        event = turn.input.message
        if isinstance(event, Sensed):
            self._happened(now, event)
            for output in turn.outputs:
                if isinstance(output.message, Decided):
                    self._decided(now, output.id, output.message, event)
        for output in turn.outputs:
            self._count(now, output.message)

    def finish(self) -> None:
        """Close the hour that is under way."""
        if self.hours:
            self.hours[-1].close(self._state)

    def _happened(self, now: Hour, event: Sensed) -> None:
        now.deaths += event.type == "player_died"
        if not isinstance(event.in_reply_to, str) or event.outcome is None:
            return
        # The report may come in a later hour than the advice; it counts where it comes.
        by_heuristic, _ = self._by[event.in_reply_to]
        answers = now.system_1 if by_heuristic else now.system_2
        answers.succeeded += event.outcome == "succeeded"
        answers.failed += event.outcome == "failed"

    def _decided(self, now: Hour, id_: str, decided: Decided, event: Sensed) -> None:
        self._events[id_] = event
        if decided.path != "none":
            self._counted(now, decided, event)
        if decided.final and decided.path == "heuristic" and decided.text:
            self._said(now.system_1, id_, decided.text, by_heuristic=True)

    def _counted(self, now: Hour, decided: Decided, event: Sensed) -> None:
        now.occasions += 1
        is_quiet = decided.silence == "learned_silence"
        now.quiet += is_quiet
        now.quiet_wrongly += is_quiet and case_of(event) is not None
        if case_of(event) is None:
            now.needless += 1
            now.asked_needlessly += not decided.final
        elif decided.path != "heuristic":
            matched = [
                each
                for each in decided.candidates
                if each.arm.startswith("heuristic:")
                and each.eligible
                and not each.silence
            ]
            now.untrusted += bool(matched)
            now.unmatched += not matched

    def _said(self, to: Answers, id_: str, text: str, *, by_heuristic: bool) -> None:
        good = is_good(text, self._events[id_])
        self._by[id_] = by_heuristic, good
        to.said += 1
        to.good += good

    def _count(self, now: Hour, message: OutputMessage) -> None:
        match message:
            case ModelAsked(purpose=purpose):
                now.formations += purpose == "formation"
                now.calls += purpose != "formation"
            case Completed(path="llm", text=text, decision_id=id_):
                self._said(now.system_2, id_, text, by_heuristic=False)
            case HeuristicFormed():
                self._formed[message.heuristic_id] = message
                now.formed += 1
            case CandidateRefused():
                now.refused += 1
            # With `through` it is the same vote again, for a heuristic that says the same.
            case FeedbackApplied(through=None):
                now.votes += 1
            case Endorsed():
                self._endorsed(now, message)
            case OutcomeObserved(outcome=("success" | "fail") as outcome):
                _, good = self._by[message.decision_id]
                now.credited += 1
                now.praised_wrongly += outcome == "success" and not good
                now.blamed_wrongly += outcome == "fail" and good
            case _:
                pass

    def _endorsed(self, now: Hour, message: Endorsed) -> None:
        formed = self._formed[message.heuristic_id]
        event = self._events[message.decision_id]
        _, model_is_good = self._by[message.decision_id]
        good = is_good(formed.text, event)
        now.endorsed += 1
        now.endorsed_wrongly += not good
        # Else the model was right and its words were merely similar to the heuristic's.
        now.mistaken += not good and not model_is_good
        now.elsewhere += formed.when is not None and not holds(formed.when, event)
