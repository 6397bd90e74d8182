"""The steps of a trace that the mind made, from the messages that record them; pure."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from echoic.tracing import conventions as names
from echoic.tracing.naming import NameOf, heuristic_of, named_arm, nameless
from echoic.tracing.spans import Link, Scalar, SpanEvent, Step
from echoic.tracing.tags import Tags
from handlers.mind.stages.salience import GATES
from handlers.worker.timing import Times
from schemas.codec.catalogue import OutputMessage
from schemas.codec.envelope import Output
from schemas.messages.decisions import Candidate, Decided, Gate
from schemas.messages.learning import (
    FeedbackApplied,
    FeedbackRefused,
    LifecycleChanged,
    OutcomeObserved,
)
from schemas.ports.probe import Stage

OUTCOMES_MAX = 25
"""Outcomes of one decision that are shown; Jaeger's page gets slow with many rows."""
_CHOICES_MAX = 5
"""Candidates and arms that are shown as events, the best; the rest is counted. Each costs
as much as a span's tags, and a person looks at the first few."""

Event = tuple[str, Tags]
"""An event of a span before it has a time: its name and attributes."""


def stages(
    decided: Decided, times: Times, name_of: NameOf = nameless
) -> tuple[Step, ...]:
    """Return the stages of a decision; one that was not timed has the time of the whole."""
    salience: Tags = {
        names.SALIENCE_SCORE: decided.salience.score,
        names.SALIENCE_SENSITIVITY: decided.salience.sensitivity,
    }
    own = [each for each in decided.gates if each.name not in GATES]
    before = [each for each in decided.gates if each.name in GATES]
    timeline = _Timeline(times)
    shown = [
        timeline.stage("salience", salience),
        timeline.stage("gate", {}, _gates(before)),
    ]
    # Every choice records its arms; what a gate stopped was neither matched nor chosen.
    if decided.candidates:
        shown.append(_match(decided.candidates, timeline, name_of))
        shown.append(_choose(decided, own, timeline, name_of))
    shown.append(timeline.stage("messages", {}))
    return tuple(shown)


class _Timeline:
    """Places the stages of a decision in time, one after the other."""

    def __init__(self, times: Times) -> None:
        self._periods = times.periods()
        self._start_ns, self._end_ns = times.started_ns, times.decided_ns
        self._shown = 0

    def stage(
        self, stage: Stage, attributes: Tags, found: Iterable[Event] = ()
    ) -> Step:
        """Return the step of the next stage; what it found is known at its end."""
        period = self._periods.get(stage)
        if period is None:
            # By a microsecond for each Jaeger's page shows them in their order.
            start_ns = min(self._start_ns + 1_000 * self._shown, self._end_ns)
            period = start_ns, self._end_ns
            attributes = {**attributes, names.STAGE_TIMED: False}
        self._shown += 1
        return Step(
            # A span is called what the mind calls the stage, see `conventions`.
            name=stage,
            start_ns=period[0],
            end_ns=period[1],
            attributes=attributes,
            events=tuple([SpanEvent(name, period[1], tags) for name, tags in found]),
        )


def _gates(gates: Iterable[Gate]) -> Iterator[Event]:
    # Each is called by its name: Jaeger's list of a span's events shows no more of them.
    return ((each.name, _gate(each)) for each in gates)


def _match(
    candidates: Iterable[Candidate], timeline: _Timeline, name_of: NameOf
) -> Step:
    """Return the step of matching, with the heuristics that are like the event.

    Those that could answer come first, the others are near misses; both nearest first.
    """
    like = [each for each in candidates if each.similarity is not None]
    like.sort(key=lambda each: not each.eligible)
    counted = Counter(map(_reason, like[_CHOICES_MAX:]))
    rest = ", ".join(f"{count} {reason}" for reason, count in counted.items())
    events = (
        (names.CANDIDATE_EVENT, _candidate(each, name_of))
        for each in like[:_CHOICES_MAX]
    )
    return timeline.stage("match", {names.LEFT_OUT: rest} if rest else {}, events)


def _reason(candidate: Candidate) -> str:
    """Return the kind of reason why it is not eligible: `when`, of `when: heat > 3`."""
    return (candidate.reason or "eligible").partition(":")[0]


def _choose(
    decided: Decided, gates: Sequence[Gate], timeline: _Timeline, name_of: NameOf
) -> Step:
    """Return the step of choosing: the arms that had odds, and the strategy's gates."""
    arms = [each for each in decided.candidates if each.probability]
    # The arm chosen first, then the likeliest.
    arms.sort(key=lambda each: (each.arm != decided.arm, -each.probability))
    rest = arms[_CHOICES_MAX:]
    odds = math.fsum(each.probability for each in rest)
    found: Tags = {names.LEFT_OUT: f"{len(rest)} arms, {odds:.3g} together"}
    best = (_arm(each, name_of) for each in arms[:_CHOICES_MAX])
    events = (*best, *_gates(gates))
    return timeline.stage("choose", found if rest else {}, events)


def _arm(candidate: Candidate, name_of: NameOf) -> Event:
    arm, odds = named_arm(candidate.arm, name_of), candidate.probability
    return names.ARM_EVENT, {names.ARM: arm, names.PROBABILITY: odds}


def outcome_step(
    outcome: OutcomeObserved, links: tuple[Link, ...], times: Times
) -> Step:
    """Return the step of an outcome that this event showed of an earlier decision."""
    whole = times.started_ns, times.decided_ns
    start_ns, end_ns = times.periods().get("outcomes", whole)
    return Step(
        name=names.OUTCOME,
        start_ns=start_ns,
        end_ns=end_ns,
        attributes={
            names.DECISION_ID: outcome.decision_id,
            names.FIRE_ID: outcome.fire_id,
            names.FIRE_HEURISTIC_ID: outcome.heuristic_id,
            names.FIRE_OUTCOME: outcome.outcome,
        },
        links=links,
    )


def learned_steps(
    outputs: Iterable[Output], start_ns: int, end_ns: int
) -> Iterator[Step]:
    """Yield a step for each message in which a vote was applied or refused."""
    for output in outputs:
        attributes = _learned(output.message)
        if attributes:
            yield Step(
                name=names.LEARN,
                start_ns=start_ns,
                end_ns=end_ns,
                attributes=attributes,
            )


def _learned(said: OutputMessage) -> Tags:
    if isinstance(said, FeedbackApplied):
        credited = said.heuristic_id or names.NONE
        return {names.FEEDBACK_APPLIED: True, names.HEURISTIC_ID: credited}
    if isinstance(said, FeedbackRefused):
        return {names.FEEDBACK_APPLIED: False, names.REASON: said.reason}
    if isinstance(said, LifecycleChanged):
        return {
            names.HEURISTIC_ID: said.heuristic_id,
            names.LIFECYCLE: said.after,
            names.CONFIDENCE: said.confidence,
        }
    return {}


def _candidate(candidate: Candidate, name_of: NameOf) -> Tags:
    id_ = heuristic_of(candidate.arm)
    return _known(
        {
            names.ARM: candidate.arm,
            names.HEURISTIC_NAME: id_ and name_of(id_),
            names.ELIGIBLE: candidate.eligible,
            names.REASON: candidate.reason,
            names.SIMILARITY: candidate.similarity,
            names.CONFIDENCE: candidate.confidence,
        }
    )


def _gate(gate: Gate) -> Tags:
    return _known(
        {
            names.GATE_NAME: gate.name,
            names.GATE_PASSED: gate.passed,
            names.GATE_VALUE: gate.value,
            names.GATE_THRESHOLD: gate.threshold,
            # Value and threshold say it too; that it was close counts where it closed.
            names.GATE_MARGIN: None if gate.passed else gate.margin,
        }
    )


def _known(attributes: dict[str, Scalar | None]) -> Tags:
    # OTLP has no null: an attribute without a value is left out.
    return {name: value for name, value in attributes.items() if value is not None}
