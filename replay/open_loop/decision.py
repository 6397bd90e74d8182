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
    """Of the input."""
    decision_id: str
    event_id: str
    at_ns: int
    """The agent's time."""
    broker_ns: int
    """The broker's time of the input."""
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
    """What the model's answer is found by."""
    logging: Mapping[str, float]
    """The recorded probabilities of all arms that had one."""
    exploration: str
    excluded: ExcludedView | None
    """What exploration might not spread here."""
    experiment: AssignmentView | None
    """The variant of a running experiment that was in force."""
    gates: tuple[GateView, ...]
    salience: float
    """The effective one."""
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
    """Return a decision as it was made, before it is known what came of it."""
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
    return nanoseconds(datetime.fromisoformat(text))
