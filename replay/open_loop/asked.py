"""The open loop: any strategy is asked about each recorded decision, at the logged state.

The recording holds every candidate that was weighed, so the context of a decision is rebuilt
without matching, salience or learning. The answers change no state: the next decision is as
the recording made it, which is what off-policy estimates require.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from msgspec import structs

from handlers.mind.stages import salience
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.in_force import Asked, Contender, InForce
from replay.recording.recency import RECENCY_TOKENS, Recalling, known
from replay.recording.recorded_groups import RecordedGroup, recorded_groups, records_in
from replay.recording.source import Recording
from schemas.codec.decode import UnreadableOutputError
from schemas.messages.arms import HEURISTIC, heuristic_of, voice_of
from schemas.messages.decisions import Candidate, Decided, Wording
from schemas.messages.experiments import VariantName
from schemas.ports.decision_context import (
    DecisionContext,
    HeuristicCandidate,
    Odds,
    Voiced,
)
from schemas.state.agent import STRANGER
from schemas.state.evidence import Belief, belief_key

_HELD = 10_000
"""How many decisions may be held until a model's answer to the first of them is read; beyond
it the first is yielded without, so that memory stays bounded."""

_READ = RECENCY_TOKENS | {Decided.token}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDecision:
    """A recorded decision, with what other strategies make of it."""

    record: DecisionRecord
    session: str
    """The name of its session."""
    logging: Mapping[str, float]
    """The recorded probability of each arm under the logging strategy."""
    context: DecisionContext | None
    """What strategies are asked with; None if a gate closed before any was."""
    odds: tuple[Odds, ...]
    """Each strategy's answer in the order they were asked; empty without a context."""

    @property
    def decided(self) -> Decided:
        """The recorded choice."""
        return self.record.decided


async def ask_open_loop(
    recording: Recording, strategies: Sequence[Contender] = ()
) -> AsyncGenerator[LoggedDecision, None]:
    """Yield the decisions of a recording in order, with each strategy asked about each.

    A strategy of None is the agent's own as it was in force at that place, without
    exploration. Memory does not grow with the recording's length.

    Raises:
        UnknownStrategyError: there is no such strategy.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
        MissingPackError: a pack in force is not in the recording's store.
        UnknownPastError: a strategy ranks by recency that the recording does not hold.
    """
    reader, records = Reader(recording, tuple(strategies)), DecisionRecords()
    async with aclosing(recorded_groups(recording)) as groups:
        async for group in groups:
            for decision in reader.read(group, records_in(group, records)):
                yield decision
    for decision in reader.rest():
        yield decision


def _context_of(
    record: DecisionRecord, in_force: InForce, llm_arm: str | None, recalling: Recalling
) -> DecisionContext:
    """Return the context that a strategy had, or would have had, at a recorded decision.

    Raises:
        UnreadableOutputError: it was made on no event, or a candidate names a content that
            is not in force.
    """
    decided, event = record.decided, record.event
    if event is None:
        raise UnreadableOutputError(
            f"input {record.sequence} is no event, and yet it was decided on"
        )
    dimensions = decided.salience.dimensions
    return DecisionContext(
        event_id=decided.event_id,
        event_text=event.text,
        event_source=decided.source,
        salience=dict(cast(Mapping[str, float], dimensions)),
        candidates=tuple(
            [
                _candidate(each, in_force, recalling)
                for each in decided.candidates
                if each.arm.startswith(HEURISTIC) and not each.silence
            ]
        ),
        immediate=event.immediate,
        goals=_goals(decided, in_force),
        personality_biases=in_force.biases_of(decided.domain),
        urgency=salience.urgency(event.urgency, dimensions),
        llm_arm=llm_arm,
        now=record.at,
        silences=tuple(
            _candidate(each, in_force, recalling)
            for each in decided.candidates
            if each.silence
        ),
        silence_asks=in_force.settings.silence,
        trials=in_force.settings.trials,
    )


def _goals(decided: Decided, in_force: InForce) -> tuple[str, ...]:
    # Goals are recorded only where they were chosen by the event, else
    # all of them count (ADR 0009).
    if decided.goals is None:
        return in_force.goals_of(decided.domain)
    return tuple(each.text for each in decided.goals)


def _candidate(
    weighed: Candidate, in_force: InForce, recalling: Recalling
) -> HeuristicCandidate:
    heuristic_id, content_hash = heuristic_of(weighed.arm)
    known = in_force.heuristic(weighed.arm)
    if known is None:
        raise UnreadableOutputError(
            f"a decision weighs {weighed.arm!r}, which is not in force there"
        )
    voice = voice_of(weighed.arm)
    return HeuristicCandidate(
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        condition_text=known.condition,
        suggested_action=known.text,
        confidence=weighed.confidence or 0.0,
        alpha=1.0 if weighed.alpha is None else weighed.alpha,
        beta=1.0 if weighed.beta is None else weighed.beta,
        declared=known.confidence,
        similarity=weighed.similarity or 0.0,
        eligible=weighed.eligible,
        reason=weighed.reason,
        response_type=known.response_type,
        action=known.action,
        urgency=known.urgency,
        origin=known.origin,
        recent=recalling.of(belief_key(heuristic_id, content_hash)),
        # Only those words that were said are on record, and no strategy reads them.
        voiced=None
        if voice is None
        else Voiced(
            text=known.text, skills=(), wording=Wording(intent=known.text, digest=voice)
        ),
    )


class Asking:
    """Asks strategies at each decision, as its group is read."""

    def __init__(
        self,
        believed: Mapping[str, Belief],
        strategies: tuple[Contender, ...],
        *,
        own: Contender = None,
    ) -> None:
        """Start with the beliefs from before the first group.

        `own` is the strategy whose way of asking the model the contexts hold; None is the
        agent's own.
        """
        self._recalling = Recalling(believed)
        self._strategies, self._own = strategies, own
        self._in_force: InForce | None = None
        # Strategies built for what is in force; cleared by every control, so it holds one
        # entry a variant.
        self._ready: dict[VariantName | None, _Ready] = {}

    def ask(
        self, group: RecordedGroup, records: Sequence[DecisionRecord]
    ) -> list[LoggedDecision]:
        """Return the decisions made in a group, given those that it opened or ended."""
        if group.before is not self._in_force:
            self._in_force, self._ready = group.before, {}
        by_id = {record.id: record for record in records}
        found = []
        # In their order: an outcome that stands before a decision counts there.
        for output in group.outputs(_READ):
            if output.id in by_id:
                found.append(self._asked(group.before, by_id[output.id]))
            self._recalling.take(output)
        if group.after is not group.before:
            self._recalling.change(group.input, group.before.agent, group.after.agent)
        return found

    def _asked(self, in_force: InForce, record: DecisionRecord) -> LoggedDecision:
        decided = record.decided
        context: DecisionContext | None = None
        odds: tuple[Odds, ...] = ()
        if not record.is_gated:
            context, odds = self._ask(in_force, record)
        logging = {each.arm: each.probability for each in decided.candidates}
        return LoggedDecision(
            record=record,
            session=record.session,
            # Where a gate decided, no candidates are recorded and the arm had all
            # probability.
            logging=logging or {decided.arm: decided.probability},
            context=context,
            odds=odds,
        )

    def _ask(
        self, in_force: InForce, record: DecisionRecord
    ) -> tuple[DecisionContext, tuple[Odds, ...]]:
        """Return the context of the recorded choice, and each strategy's odds."""
        experiment = record.decided.experiment
        variant = experiment.variant if experiment else None
        ready = self._ready.get(variant) or self._prepare(in_force, variant)
        arm, asks = ready.asked(record)
        # Without a budget for it no strategy could have asked the model.
        is_spent = any(
            each.name == "budget" and not each.passed for each in record.decided.gates
        )
        arm = None if is_spent else arm
        own = _context_of(record, ready.in_force, arm, self._recalling)
        if ready.recalls:
            for each in own.candidates:
                known(each.recent, each.arm)
        # A strategy may ask the model in its own way, which is another arm of the context.
        odds = []
        for asked in asks:
            its = None if is_spent else asked.llm_arm
            is_same = its == own.llm_arm
            context = own if is_same else structs.replace(own, llm_arm=its)
            if asked.template is not None:
                domain = record.decided.domain
                biases = ready.in_force.biases_of(domain, asked.template)
                context = structs.replace(context, personality_biases=biases)
            odds.append(asked.strategy.decide(context))
        return own, tuple(odds)

    def _prepare(self, in_force: InForce, variant: VariantName | None) -> "_Ready":
        ready = _Ready(in_force.under(variant), (self._own, *self._strategies))
        self._ready[variant] = ready
        return ready


class Reader:
    """Asks strategies at each decision of a recording, as its groups are read in order.

    A decision is held until its completion is read, and decisions are yielded in order.
    """

    def __init__(self, recording: Recording, strategies: tuple[Contender, ...]) -> None:
        """Start with what was known before the recording."""
        start = recording.start.agents.get(recording.agent, STRANGER)
        self._asking = Asking(start.beliefs, strategies)
        self._held: dict[str, LoggedDecision] = {}
        """By the decision's id, in their order."""

    def read(
        self, group: RecordedGroup, records: Sequence[DecisionRecord]
    ) -> Iterator[LoggedDecision]:
        """Return the decisions that a group completes, given those it opened or ended."""
        for record in records:
            held = self._held.get(record.id)
            if held is not None:
                self._held[record.id] = replace(held, record=record)
        made = self._asking.ask(group, records)
        self._held.update((each.record.id, each) for each in made)
        return self._complete()

    def rest(self) -> Iterator[LoggedDecision]:
        """Yield the decisions still held; the recording ends before some were completed."""
        yield from self._held.values()

    def _complete(self) -> Iterator[LoggedDecision]:
        while self._held:
            first = next(iter(self._held.values()))
            if not first.record.is_final and len(self._held) <= _HELD:
                return
            yield self._held.pop(first.record.id)


class _Ready:
    """The strategies, ready to be asked under what is in force."""

    def __init__(self, in_force: InForce, contenders: tuple[Contender, ...]) -> None:
        """Take the contender whose way of asking the model contexts hold, then the others."""
        self.in_force = in_force
        self._contenders = contenders
        # By what each would tell a model of its character: one entry without one.
        self._known: dict[tuple[str | None, ...], tuple[Asked, ...]] = {}

    def asked(self, record: DecisionRecord) -> tuple[str | None, tuple[Asked, ...]]:
        """Return the model arm that a decision's context holds, and those to be asked."""
        tones = [self.in_force.tone(record, each) for each in self._contenders]
        key = tuple(each.digest if each is not None else None for each in tones)
        if key not in self._known:
            made = zip(self._contenders, tones, strict=True)
            self._known[key] = tuple(self.in_force.asked(*each) for each in made)
        own, *others = self._known[key]
        return own.llm_arm, tuple(others)

    @property
    def recalls(self) -> bool:
        """Whether one of them weighs when a heuristic last fired and succeeded."""
        known = next(iter(self._known.values()), ())
        return any(getattr(each.strategy, "rank", "") == "full" for each in known[1:])
