"""Performing an ask, whichever it is: is it done? do it, and append the result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from handlers.effects import results
from handlers.effects.delivery import Outlet, deliver
from handlers.effects.ledger import Ledger
from handlers.effects.model_call import ask_model
from handlers.effects.models import Model
from handlers.effects.priority_queue import QueuedAsk
from schemas.codec.catalogue import ResultMessage
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.values import ids
from streams.log import ReadableLog, WritableLog


def wall_clock() -> datetime:
    """Return the time on the wall, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Performer:
    """What asks are performed with."""

    log: ReadableLog
    writer: WritableLog
    outlet: Outlet
    model: Model | None
    """None: there is no System 2, and whoever asks for it is told so."""
    clock: Callable[[], datetime] = wall_clock
    ledger: Ledger = field(init=False)
    """What the log says of asks that are over."""

    def __post_init__(self) -> None:
        """Keep a ledger of the log."""
        object.__setattr__(self, "ledger", Ledger(self.log))

    async def perform(self, held: QueuedAsk) -> None:
        """Perform one ask and append its result, unless the log already has one."""
        left_s = self.seconds_left(held)
        may_be_answered = held.is_repeated or left_s <= 0
        if may_be_answered and await self.ledger.is_answered(held):
            return
        result = await self._result(held, left_s)
        await results.append(self.writer, self.log.epoch, held, result)

    def seconds_left(self, held: QueuedAsk) -> float:
        """For how long the answer is still worth something, by the broker's time."""
        stale_at = held.output.record.recorded_at + timedelta(seconds=held.ask.ttl_s)
        return (stale_at - self.clock()).total_seconds()

    async def _result(self, held: QueuedAsk, left_s: float) -> ResultMessage:
        output = held.output
        match held.ask:
            case ModelAsked() as asked:
                span = ids.span_id(asked.decision_id, f"chat {asked.model}", 0)
                context = ids.traceparent(output.mark.cause_id, span)
                is_late = left_s <= 0 or await self.ledger.is_given_up(held)
                return await ask_model(
                    self.model,
                    output.id,
                    asked,
                    within_s=0.0 if is_late else left_s,
                    headers={"traceparent": context},
                )
            case DeliveryAsked() as asked:
                return await deliver(
                    self.outlet,
                    output.id,
                    output.agent,
                    asked,
                    within_s=left_s,
                )
