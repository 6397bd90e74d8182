"""Gather the facts of a recording that confidence follows from, and prove them complete.

While reading, they are folded under the recorded settings and compared with every recorded
confidence: a recording whose confidences do not come out is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from immutables import Map

from evaluation.evidence import facts
from evaluation.evidence.facts import Evidence, Fact
from evaluation.evidence.refold import BeliefFold
from evaluation.evidence.votes import Voting
from projections.folds.learning import beliefs, confidence, vote_targets
from projections.folds.learning.beliefs import Terms
from projections.folds.learning.heuristics import all_heuristics, content_in_force
from projections.folds.learning.vote_targets import Vote
from replay.recording.in_force import InForce
from replay.recording.recorded_groups import RecordedGroup, read_groups
from replay.recording.source import Recording
from schemas.codec.envelope import Output
from schemas.messages.arms import HEURISTIC, heuristic_of
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen, HeuristicSeeded
from schemas.messages.decisions import Decided, HeuristicFired
from schemas.messages.feedback import Aspect
from schemas.messages.learning import (
    AdviceIgnored,
    Endorsed,
    FeedbackApplied,
    OutcomeObserved,
    SilenceWeighed,
)
from schemas.state.agent import STRANGER
from schemas.state.evidence import Belief, belief_key
from schemas.values.learning_settings import LearningSettings

_READ = frozenset(
    message.token
    for message in (
        Decided,
        HeuristicFired,
        Endorsed,
        OutcomeObserved,
        AdviceIgnored,
        FeedbackApplied,
        SilenceWeighed,
    )
)
"""The outputs that confidence follows from or is recorded in."""


class UnprovenError(ValueError):
    """A recorded confidence does not follow from the recorded facts."""


async def gather(recording: Recording) -> tuple[Evidence, ...]:
    """Return the evidence of a recording, session by session.

    Raises:
        UnprovenError: the recording does not agree with itself; names the input.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
        MissingPackError: a pack in force is not in the recording's store.
    """
    reader = EvidenceReader(recording)
    await read_groups(recording, reader.read)
    return reader.evidence()


def joined(parts: tuple[Evidence, ...]) -> Evidence:
    """Join consecutive evidence of one agent; beliefs and settings are the first's."""
    if len(parts) == 1:
        return parts[0]
    facts = tuple(fact for part in parts for fact in part.facts)
    return replace(parts[0], session="", facts=facts)


@dataclass(slots=True)
class _Part:
    """One session's evidence, as it is gathered."""

    session: str
    began_ns: int
    believed: Map[str, Belief]
    learning: LearningSettings
    terms: Mapping[str, Terms]
    facts: list[Fact] = field(default_factory=list)


class EvidenceReader:
    """Gathers evidence; give it the groups that concern the recording, in order."""

    def __init__(self, recording: Recording) -> None:
        """Begin with what was believed before the recording."""
        self._agent = recording.agent
        self._in_force = InForce.of(recording.start, recording.agent)
        start = recording.start.agents.get(recording.agent, STRANGER)
        self._start = start
        self._terms: Mapping[str, Terms] = {}
        self._believing = BeliefFold(start.beliefs, self._learning, {})
        self._parts: list[_Part] = []
        self._outcomes: dict[str, float] = {}
        self._voting = Voting(start)
        self._ignored: set[str] = set()
        self._names: dict[str, str] = {}
        self._has_begun = False
        self._decision_id = ""

    @property
    def _learning(self) -> LearningSettings:
        return self._in_force.agent.learning(self._in_force.settings)

    def read(self, group: RecordedGroup) -> None:
        """Read one group of the recording."""
        if not self._has_begun:
            self._has_begun = True
            # The terms from before the recording have to precede its
            # first fact, hence sequence 0.
            self._put_in_force(group.before, 0)
        self._decision_id = ""
        for output in group.outputs(_READ):
            if isinstance(output.message, Decided):
                self._decision_id = output.id
                self._decided(group, output.message)
            else:
                self._take(group, output)
        if group.after is not group.before:
            self._change(group)

    def evidence(self) -> tuple[Evidence, ...]:
        """Return all that was gathered."""
        # What the world showed of a fire goes before what people said of it.
        happened = {**self._voting.happened(), **self._outcomes}
        return tuple(
            Evidence(
                agent=self._agent,
                session=part.session,
                began_ns=part.began_ns,
                believed=part.believed,
                learning=part.learning,
                terms=part.terms,
                facts=tuple(part.facts),
                happened=happened,
                names=self._names,
            )
            for part in self._parts
        )

    def _decided(self, group: RecordedGroup, decided: Decided) -> None:
        session = decided.session_id or ""
        if not self._parts or self._parts[-1].session != session:
            self._begin(group, session)
        # Candidates that did not answer record their confidence as
        # well, so each proves the fold.
        for candidate in decided.candidates:
            if candidate.arm.startswith(HEURISTIC) and candidate.confidence is not None:
                key = belief_key(*heuristic_of(candidate.arm))
                self._prove(group, key, candidate.confidence)

    def _take(self, group: RecordedGroup, output: Output) -> None:
        sequence, message = group.sequence, output.message
        match message:
            case HeuristicFired(mode="shown" | "kept"):
                key, declared = self._about(message.heuristic_id, message.content_hash)
                # A fire that completes an earlier decision has the confidence of that time.
                if message.decision_id == self._decision_id:
                    self._prove(group, key, message.confidence)
                self._learn(group, facts.ShownFact(sequence, key, declared, output.id))
            case OutcomeObserved(outcome=("success" | "fail") as outcome):
                key, declared = self._about(message.heuristic_id, message.content_hash)
                success, fire_id = outcome == "success", message.fire_id
                # A fire has one outcome: the first that was observed.
                self._outcomes.setdefault(fire_id, float(success))
                is_second = self._is_voted(key, message)
                fact = facts.Seen(sequence, key, declared, fire_id, success, is_second)
                if not self._is_settled(message):
                    self._learn(group, fact)
            case AdviceIgnored():
                key, declared = self._about(message.heuristic_id, message.content_hash)
                self._ignored.add(message.fire_id)
                self._learn(
                    group, facts.Neglected(sequence, key, declared, message.fire_id)
                )
            case Endorsed():
                key, declared = self._about(message.heuristic_id, message.content_hash)
                decision_id, similarity = message.decision_id, message.similarity
                self._learn(
                    group,
                    facts.Agreed(sequence, key, declared, decision_id, similarity),
                )
            case SilenceWeighed():
                self._learn(group, self._weighed(sequence, message))
            case FeedbackApplied():
                self._vote(group, message)
            case _:
                pass

    def _weighed(self, sequence: int, message: SilenceWeighed) -> Fact:
        """Return evidence on silence as a fact on the heuristic that says nothing there."""
        key, declared = self._about(message.heuristic_id, message.content_hash)
        place, value = message.decision_id, message.value
        if message.actor is None:
            return facts.Seen(sequence, key, declared, place, (value or 0.0) > 0.0)
        # A vote on the timing counts for no confidence, so it withdraws the earlier one.
        aspect: Aspect = "timing" if value is None else "overall"
        weighed = Vote(
            aspect, place, message.actor, value or 0.0, base=0.0, place=sequence
        )
        return facts.Judged(sequence, key, declared, weighed)

    def _vote(self, group: RecordedGroup, vote: FeedbackApplied) -> None:
        was, fact = self._believing.believed, None
        given = group.input.message
        key, declared = self._about(vote.heuristic_id or "", vote.content_hash or "")
        # A changed vote replaces the earlier one wherever that is held (ADR 0016).
        earlier = self._voting.before(vote, given, was.get(key))
        if vote.heuristic_id is not None and vote.content_hash is not None:
            fact = self._voting.judged(
                group.sequence,
                key,
                declared,
                vote,
                given,
                earlier,
                is_seen=vote.fire_id in self._outcomes,
            )
            self._learn(group, fact)
            # An edit that kept the trust took the earlier vote along;
            # it is replaced there as well.
            for other in self._carried(key, vote):
                self._learn(group, replace(fact, key=other))
        self._voting.take(fact, vote, was, self._believing.believed, earlier)

    def _carried(self, key: str, vote: FeedbackApplied) -> list[str]:
        """Return the keys of other contents that hold the vote which this one changes."""
        believed = self._believing.believed
        return [
            other
            for other in sorted(believed)
            if other != key
            and other.rpartition("@")[0] == vote.heuristic_id
            and vote_targets.vote_in(believed[other], vote) is not None
        ]

    def _is_voted(self, key: str, seen: OutcomeObserved) -> bool:
        """Tell whether people's votes on the fire are settled and cannot change any more."""
        held = self._believing.believed.get(key)
        is_found = (
            held is not None
            and confidence.find(held, seen.fire_id, "explicit") is not None
        )
        return not is_found and self._voting.is_voted(seen)

    def _is_settled(self, seen: OutcomeObserved) -> bool:
        """Tell whether a fire was counted as ignored and cannot be corrected any more."""
        remembered = self._start.decisions.get(seen.decision_id)
        is_ignored = remembered is not None and remembered.is_ignored
        if seen.fire_id not in self._ignored and not is_ignored:
            return False
        key = belief_key(seen.heuristic_id, seen.content_hash)
        held = self._believing.believed.get(key)
        return held is None or confidence.find(held, seen.fire_id, "ignored") is None

    def _change(self, group: RecordedGroup) -> None:
        learning = self._learning
        self._in_force = group.after
        self._carry(group)
        if self._learning != learning:
            self._learn(group, facts.Ruled(group.sequence, self._learning))
        self._redeclare(group)
        self._revive(group)
        self._put_in_force(group.after, group.sequence)

    def _carry(self, group: RecordedGroup) -> None:
        message = group.input.message
        if not isinstance(message, HeuristicEdited) or not message.keep:
            return
        old = group.before.agent.taught(message.heuristic_id)
        new = group.after.agent.taught(message.heuristic_id)
        if old is None or new is None:
            return
        key = belief_key(old.heuristic_id, old.content_hash)
        to = belief_key(new.heuristic_id, new.content_hash)
        self._learn(group, facts.Carried(group.sequence, key, to))

    def _redeclare(self, group: RecordedGroup) -> None:
        """Learn that a heuristic taught again counts from its new declared confidence."""
        message, in_force = group.input.message, group.after
        if not isinstance(message, HeuristicSeeded):
            return
        taught = in_force.agent.taught(message.heuristic_id)
        if taught is not None:
            key, declared = self._about(taught.heuristic_id, taught.content_hash)
            self._learn(group, facts.Redeclared(group.sequence, key, declared))

    def _revive(self, group: RecordedGroup) -> None:
        """Learn that a heuristic released after freezing by its evidence starts a trial."""
        message, before = group.input.message, group.before
        if not isinstance(message, HeuristicFrozen) or message.frozen:
            return
        id_ = message.heuristic_id
        content_hash = content_in_force(before.agent, before.packs, id_)
        if content_hash is None:
            return
        key, declared = self._about(id_, content_hash)
        if self._believing.is_frozen(key, declared):
            self._learn(group, facts.Revived(group.sequence, key, declared))

    def _put_in_force(self, in_force: InForce, sequence: int) -> None:
        """Learn of names, and of changed constraints or priors, if there are any."""
        self._in_force = in_force
        found = all_heuristics(in_force.agent, in_force.packs)
        self._names.update({each.heuristic_id: each.name for each in found})
        now = beliefs.terms_in_force(in_force.agent, in_force.packs)
        if now == self._terms:
            return
        self._terms = now
        fact = facts.Termed(sequence, now)
        # Without a part there is nothing to add to: the first
        # begins with the terms of its time.
        if self._parts:
            self._parts[-1].facts.append(fact)
        self._believing.take(fact)

    def _learn(self, group: RecordedGroup, fact: Fact) -> None:
        if not self._parts:
            self._begin(group, "")
        self._parts[-1].facts.append(fact)
        self._believing.take(fact)

    def _begin(self, group: RecordedGroup, session: str) -> None:
        believing = self._believing
        part = _Part(
            session,
            group.arrived_ns,
            believing.believed,
            believing.learning,
            self._terms,
        )
        self._parts.append(part)

    def _about(self, heuristic_id: str, content_hash: str) -> tuple[str, float]:
        return belief_key(heuristic_id, content_hash), self._declared(heuristic_id)

    def _declared(self, heuristic_id: str) -> float:
        in_force = self._in_force
        return beliefs.declared_confidence(in_force.agent, in_force.packs, heuristic_id)

    def _prove(self, group: RecordedGroup, key: str, recorded: float) -> None:
        declared = self._declared(key.rpartition("@")[0])
        folded = self._believing.confidence(key, declared)
        # Equal to the bit, no tolerance: it is the same fold with the same exact numbers.
        if folded != recorded:
            raise UnprovenError(
                f"input {group.sequence}: {key!r} was recorded with confidence"
                f" {recorded!r}, and the recorded facts make it {folded!r}"
            )
