"""The history of an agent's heuristics in a recording, move by move.

The proven facts are folded again beside their causes, so that each move has the confidence
before and after it.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from evaluation.evidence import facts
from evaluation.evidence.facts import Evidence, Fact
from evaluation.evidence.gather import gather
from evaluation.evidence.refold import BeliefFold
from evaluation.learning.causes import Cause, CauseKind, causes
from evaluation.learning.heuristics_at import Known, known, trust
from evaluation.learning.thresholds import threshold
from projections.folds.learning.heuristics import content_in_force
from replay.recording.in_force import InForce, with_packs
from replay.recording.recorded_groups import RecordedGroup, recorded_groups
from replay.recording.source import Recording
from schemas.messages.controls import PackLoaded, PriorUpdated
from schemas.messages.learning import CandidateRefused
from schemas.state.evidence import belief_key

_FACTS: Mapping[type[Fact], tuple[CauseKind, ...]] = {
    facts.ShownFact: ("fire", "kept"),
    facts.Seen: ("outcome", "silence"),
    facts.Neglected: ("ignored",),
    facts.Judged: ("vote", "silence"),
    facts.Agreed: ("endorsement",),
    facts.Carried: ("edit",),
    facts.Redeclared: ("taught",),
    facts.Revived: ("released",),
}
"""The kinds of causes that each type of fact belongs to."""

_RULES: Mapping[type, str] = {
    PriorUpdated: "another prior of its origin",
    PackLoaded: "other constraints of its pack",
}
"""What controls change that are about no one heuristic."""

_REFUSED = frozenset((CandidateRefused.token,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A cause, and what was believed of its heuristic before and after."""

    cause: Cause
    session: str
    before: float | None
    """None if there was no such heuristic."""
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningHistory:
    """What one recording tells."""

    agent: str
    origin: str
    """The file, or `log`."""
    sessions: tuple[str, ...]
    began_ns: int
    """The broker's time of its first input."""
    evidence: tuple[Evidence, ...]
    moves: tuple[Move, ...]
    """In the order of the log."""
    begins: Mapping[str, Known]
    """What the agent had before it, by id."""
    ends: Mapping[str, Known]
    """What it had after it."""
    refused: Mapping[str, int]
    """How many liked answers became no heuristic, by reason."""
    names: Mapping[str, str]
    """What each heuristic is called, by id."""
    threshold: float
    """From which confidence on a heuristic answered by itself, at its end."""

    def of(self, heuristic_id: str) -> tuple[Move, ...]:
        """Return the moves of one heuristic."""
        return tuple(
            move for move in self.moves if move.cause.heuristic_id == heuristic_id
        )


async def learning_history(recording: Recording) -> LearningHistory:
    """Return the history of a recording.

    Raises:
        UnprovenError: its confidences do not follow from its facts; names the input.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged: the recording is not sound.
        MissingPackError: a pack in force is not in the recording's store.
    """
    evidence = await gather(recording)
    in_force = await with_packs(
        InForce.of(recording.start, recording.agent), recording.log
    )
    first = evidence[0]
    # Under the recorded settings, without changes: these folds were proven by `gather`.
    believing = BeliefFold(first.believed, first.learning, {}, first.terms)
    # Now, since the reader folds on with these beliefs.
    begins = known(in_force, believing)
    reader = _HistoryReader(evidence, believing)
    async for group in recorded_groups(recording):
        reader.take(group)
        in_force = group.after
    ends = known(in_force, believing)
    return LearningHistory(
        agent=recording.agent,
        origin=recording.origin,
        sessions=recording.sessions,
        began_ns=first.began_ns,
        evidence=evidence,
        moves=tuple(reader.moves),
        begins=begins,
        ends=ends,
        refused=dict(sorted(reader.refused.items())),
        names={**first.names, **{each.id: each.name for each in ends.values()}},
        threshold=threshold(in_force),
    )


class _HistoryReader:
    """Builds a history while the recording is read."""

    def __init__(self, evidence: tuple[Evidence, ...], believing: BeliefFold) -> None:
        self.moves: list[Move] = []
        self.refused: Counter[str] = Counter()
        self._believing = believing
        self._facts: dict[int, deque[Fact]] = defaultdict(deque)
        self._sessions: dict[int, str] = {}
        self._session = evidence[0].session
        for part in evidence:
            for fact in part.facts:
                self._facts[fact.sequence].append(fact)
                self._sessions[fact.sequence] = part.session

    def take(self, group: RecordedGroup) -> None:
        """Read one group."""
        here = self._facts.pop(group.sequence, deque())
        is_control = group.before is not group.after
        # Only a control can move confidences without naming a heuristic, and listing them
        # all for every group would be slow.
        stood = known(group.before, self._believing) if is_control else {}
        caused: set[str] = set()
        self._session = self._sessions.get(group.sequence, self._session)
        for cause in causes(group):
            before = self._before(group, cause)
            self._fold_until(here, cause)
            after = self._confidence(group.after, cause, cause.content_hash)
            self._note(cause, before, after)
            caused.add(cause.heuristic_id)
        # Facts that no cause claimed are folded all the same, or later moves would be off.
        for fact in here:
            self._believing.take(fact)
        self._rule(group, {id_: stood[id_] for id_ in stood if id_ not in caused})
        for output in group.outputs(_REFUSED):
            refused = output.message
            if isinstance(refused, CandidateRefused) and refused.sleep_id is None:
                self.refused[refused.reason] += 1

    def _before(self, group: RecordedGroup, cause: Cause) -> float | None:
        """Return the confidence before the cause; None if the heuristic is new.

        For a new content it is that of the content it replaces.
        """
        if cause.kind not in ("taught", "formed", "edit", "pack"):
            return self._confidence(group.before, cause, cause.content_hash)
        before = group.before
        content_hash = content_in_force(before.agent, before.packs, cause.heuristic_id)
        if content_hash is None:
            return None
        return self._confidence(group.before, cause, content_hash)

    def _confidence(self, in_force: InForce, cause: Cause, content_hash: str) -> float:
        return trust(in_force, self._believing, cause.heuristic_id, content_hash)

    def _fold_until(self, here: deque[Fact], cause: Cause) -> None:
        """Fold the facts up to the one that belongs to the cause, if there is one.

        Facts and causes of a group come in the same order, so those before it are due.
        """
        if any(_is_of(fact, cause) for fact in here):
            while here:
                fact = here.popleft()
                self._believing.take(fact)
                if _is_of(fact, cause):
                    return

    def _rule(self, group: RecordedGroup, stood: Mapping[str, Known]) -> None:
        """Note every confidence that a control changed without naming a heuristic."""
        stands = known(group.after, self._believing) if stood else {}
        for id_, before in stood.items():
            after = stands.get(id_)
            if after is not None and after.confidence != before.confidence:
                cause = _ruled(group, id_, after.content_hash)
                self._note(cause, before.confidence, after.confidence)

    def _note(self, cause: Cause, before: float | None, after: float) -> None:
        self.moves.append(
            Move(cause=cause, session=self._session, before=before, after=after)
        )


def _is_of(fact: Fact, cause: Cause) -> bool:
    if cause.kind not in _FACTS.get(type(fact), ()):
        return False
    key = belief_key(cause.heuristic_id, cause.content_hash)
    return key in (getattr(fact, "key", None), getattr(fact, "to", None))


def _ruled(group: RecordedGroup, heuristic_id: str, content_hash: str) -> Cause:
    return Cause(
        sequence=group.sequence,
        at=datetime.fromisoformat(group.records[0].headers["ce-time"]),
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        kind="settings",
        what=_RULES.get(type(group.input.message), "other learning settings"),
        id=group.input.id,
    )
