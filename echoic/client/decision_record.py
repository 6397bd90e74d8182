"""Accounts: the whole record of one decision, from its event to its final answer.

Pure, over the log alone. Whole groups go in, in logical order; an account comes out when
it opens and again when its answer is final.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.sensing import Sensed
from schemas.values.ids import trace_id

OPEN_LIMIT = 10_000
"""Decisions that may wait for their end; the oldest is dropped first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One decision with all that the log says of it."""

    id: str
    agent: str
    at: datetime
    """The agent's time of the decision."""
    event_text: str
    decided: Decided
    input: Input
    """The input in whose group it was decided: the event, or what ran a timer."""
    ask: ModelAsked | None = None
    shown_fire: str | None = None
    """The fire of the heuristic that the person saw."""
    ending: Completed | Dropped | None = None
    answered_ns: int
    """The broker's time of the last message on it."""

    @property
    def is_final(self) -> bool:
        """Whether the answer is final."""
        return self.decided.final or self.ending is not None

    @property
    def said(self) -> str | None:
        """The words that were said; None for silence."""
        if isinstance(self.ending, Completed):
            return self.ending.text
        if self.decided.final and self.decided.silence is None:
            return self.decided.text
        return None

    @property
    def silence(self) -> str | None:
        """The reason of a silence, from the closed lists."""
        if isinstance(self.ending, Dropped):
            return self.ending.reason
        return self.decided.silence

    @property
    def path(self) -> str:
        """The path by which the final answer came about."""
        if isinstance(self.ending, Completed):
            return self.ending.path
        return "fallback" if isinstance(self.ending, Dropped) else self.decided.path

    @property
    def heuristic_id(self) -> str | None:
        """The heuristic that answered."""
        return self._telling.matched_heuristic_id if self.path == "heuristic" else None

    @property
    def winner(self) -> str | None:
        """In a race of two arms, the one whose words were said."""
        return self.ending.winner if isinstance(self.ending, Completed) else None

    @property
    def predicted_success(self) -> float:
        """The predicted probability of a good outcome, 0 to 1."""
        return self._telling.predicted_success

    @property
    def prediction_confidence(self) -> float:
        """How far that prediction was trusted, 0 to 1."""
        return self._telling.prediction_confidence

    @property
    def _telling(self) -> Decided | Completed:
        """The message that holds the words: a late answer's, or the decision's own."""
        return self.ending if isinstance(self.ending, Completed) else self.decided

    @property
    def latency_ms(self) -> float:
        """Milliseconds from the input to the last message on it, by the broker's clock."""
        return max(0, self.answered_ns - self.input.record.time_ns) / 1e6


class Accounts:
    """Builds accounts from groups as they arrive."""

    def __init__(self) -> None:
        self._open: dict[str, Account] = {}

    def take(self, input_: Input, outputs: Sequence[Output]) -> list[Account]:
        """Return the accounts that this group opened or ended, as they now stand."""
        touched: dict[str, Account] = {}
        for output in outputs:
            account = self._account(input_, output)
            if account is not None:
                touched[account.id] = self._open[account.id] = account
        # Only after the whole group: its fire and its ask follow the decision.
        for account in touched.values():
            if account.is_final:
                del self._open[account.id]
        # A dict keeps the order of insertion, so the first is the oldest.
        while len(self._open) > OPEN_LIMIT:
            del self._open[next(iter(self._open))]
        return list(touched.values())

    def _account(self, input_: Input, output: Output) -> Account | None:
        message, time_ns = output.message, output.record.time_ns
        if isinstance(message, Decided):
            return _opened(input_, output, message)
        decision_id = getattr(message, "decision_id", None)
        known = self._open.get(decision_id) if decision_id else None
        if known is None:
            return None
        match message:
            case Completed() | Dropped():
                return replace(known, ending=message, answered_ns=time_ns)
            # Other purposes, such as reflection, are no part of the answer.
            case ModelAsked(purpose="answer"):
                return replace(known, ask=message)
            case HeuristicFired(mode="shown"):
                return replace(known, shown_fire=output.id)
            case _:
                return None


def _opened(input_: Input, output: Output, decided: Decided) -> Account:
    event = input_.message
    return Account(
        id=output.id,
        agent=output.agent,
        at=output.at,
        event_text=event.text if isinstance(event, Sensed) else "",
        decided=decided,
        input=input_,
        answered_ns=output.record.time_ns,
    )


def as_fields(account: Account) -> dict[str, object]:
    """Return an account as fields for JSON; `v` grows when a field changes its meaning."""
    decided = account.decided
    return {
        "v": 1,
        "id": account.id,
        "event_id": decided.event_id,
        "agent": account.agent,
        "at": account.at.isoformat(),
        "source": decided.source,
        "type": decided.type,
        "text": account.event_text,
        "salience": decided.salience.effective,
        "path": account.path,
        "final": account.is_final,
        "said": account.said,
        "silence": account.silence,
        "heuristic_id": account.heuristic_id,
        "winner": account.winner,
        "predicted_success": account.predicted_success,
        "prediction_confidence": account.prediction_confidence,
        "latency_ms": round(account.latency_ms, 3),
        "session_id": decided.session_id,
        # Derived from the event's id, so it is known even if nothing was traced.
        "trace_id": trace_id(decided.event_id),
    }


def as_response(account: Account) -> dict[str, object]:
    """Return an account in the shape of a `process` reply."""
    decided, ending = account.decided, account.ending
    matched = ending.matched_heuristic_id if isinstance(ending, Completed) else None
    return {
        "accepted": account.path != "rejected",
        "response_id": account.id,
        "response_text": account.said or "",
        "predicted_success": account.predicted_success,
        "prediction_confidence": account.prediction_confidence,
        "prompt_text": account.ask.prompt if account.ask else "",
        "decision_path": account.path,
        "matched_heuristic_id": matched or decided.matched_heuristic_id or "",
        "silence": account.silence,
        "metadata": _metadata(account),
    }


def _metadata(account: Account) -> dict[str, object]:
    """Return what else led to the response, as far as it did."""
    decided, ending = account.decided, account.ending
    gate = next((each for each in decided.gates if each.name == "confidence"), None)
    found: dict[str, object] = {
        "threshold": gate.threshold if gate else None,
        "model": account.ask.model if account.ask else None,
        "reason": account.silence,
    }
    if isinstance(ending, Completed) and ending.agrees_with:
        similarity = ending.agreement[0] if ending.agreement else None
        converged = {"converged_heuristic_id": ending.agrees_with[0]}
        found["convergence"] = {**converged, "similarity": similarity}
    return {name: value for name, value in found.items() if value is not None}
