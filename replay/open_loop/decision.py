"""A recorded decision, with what strategies make of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from replay.recording.views import (
    AssignmentView,
    DecidedView,
    EventView,
    ExcludedView,
    GateView,
    ResultView,
)
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.values.reasons import Drop, Path, Silence
from schemas.values.record import Record, nanoseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDecision:
    """A recorded decision, with its context and what other strategies make of it."""

    agent: str
    session: str
    """The id of its session."""
    sequence: int
    """The sequence of its input."""
    decision_id: str
    event_id: str
    at_ns: int
    """The agent's time, in nanoseconds since 1970."""
    broker_ns: int
    """The broker's time of the input, in nanoseconds since 1970."""
    source: str
    type: str
    domain: str
    text: str
    """The event's."""
    path: Path
    arm: str
    propensity: float
    """The probability with which that arm was taken."""
    greedy_arm: str
    strategy: str
    config_hash: str
    silence: Silence | None
    said: str | None
    """What the person heard in the end; None if nothing."""
    ended_by: str | None
    """The arm that won, where an arm leaves that open."""
    dropped: Drop | None
    """Why nothing came of it."""
    answer: ResultView | None
    """What the model sent for it, whatever was made of that."""
    prompt_digest: str | None
    """The digest of the prompt, by which the model's answer is found."""
    logging: Mapping[str, float]
    """The recorded probability of each arm under the logging strategy."""
    exploration: str
    excluded: ExcludedView | None
    """The probability that exploration held back here, and why."""
    experiment: AssignmentView | None
    """The variant of a running experiment that was in force."""
    gates: tuple[GateView, ...]
    salience: float
    """The effective salience."""
    context: DecisionContext | None
    """What strategies are asked with; None if a gate closed before any was."""
    odds: tuple[Odds, ...]
    """Each strategy's answer in the order they were asked; empty without a context."""


def decision_of(
    input_: Record,
    output: Record,
    decided: DecidedView,
    event: EventView,
    context: DecisionContext | None,
    odds: tuple[Odds, ...],
) -> LoggedDecision:
    """Return a decision as it was made, without its completion."""
    logging = {each.arm: each.probability for each in decided.candidates}
    return LoggedDecision(
        agent=output.subject.split(".", 4)[3],
        session=decided.session_id or "",
        sequence=input_.sequence,
        decision_id=output.headers["ce-id"],
        event_id=decided.event_id,
        at_ns=_time_ns(output.headers["ce-time"]),
        broker_ns=input_.time_ns,
        source=decided.source,
        type=decided.type,
        domain=decided.domain,
        text=event.text,
        path=decided.path,
        arm=decided.arm,
        propensity=decided.probability,
        greedy_arm=decided.greedy_arm,
        strategy=decided.strategy,
        config_hash=decided.config_hash,
        silence=decided.silence,
        said=decided.text if decided.silence is None else None,
        ended_by=None,
        dropped=None,
        answer=None,
        prompt_digest=decided.prompt_digest,
        # Where a gate decided, no candidates are recorded and the arm had all probability.
        logging=logging or {decided.arm: decided.probability},
        exploration=decided.exploration,
        excluded=decided.exploration_excluded,
        experiment=decided.experiment,
        gates=decided.gates,
        salience=decided.salience.effective,
        context=context,
        odds=odds,
    )


@lru_cache(maxsize=64)
def _time_ns(text: str) -> int:
    # Cached, since the outputs of a group share their time.
    return nanoseconds(datetime.fromisoformat(text))
