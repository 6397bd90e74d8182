"""Performing an ask of any kind: skip it if it was done, else do it, append the
result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import perf_counter

from msgspec.structs import replace

from handlers.effects import results
from handlers.effects.agents import is_told, tell
from handlers.effects.delivery import Outlet, deliver
from handlers.effects.ledger import Ledger
from handlers.effects.model_chain import ask_models
from handlers.effects.models import Hear, Model
from handlers.effects.parts import Parts
from handlers.effects.priority_queue import QueuedAsk
from handlers.effects.recalling import Memory, recall
from handlers.effects.speech import Speaker
from handlers.effects.utterance import is_speech, utter
from handlers.effects.webhook import WEBHOOK, Webhook
from schemas.codec.catalogue import EffectResult
from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.decisions import Decided
from schemas.messages.results import DeliveryInterrupted, TurnFailed, TurnGranted
from schemas.messages.sensing import Sensed
from schemas.values import ids
from schemas.values.subjects import output_subject, parse
from streams.log import ReadableLog, WritableLog


def _wall_clock() -> datetime:
    """Return the system's time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Performer:
    """Performs asks: what `AskQueue` calls for each."""

    log: ReadableLog
    writer: WritableLog
    outlet: Outlet
    model: Model | None
    """None if no model is configured: each call then fails as `unavailable`."""
    speaker: Speaker | None = None
    """None if no command for speech is configured: what was to be spoken is written."""
    webhook: Webhook | None = None
    """None if none is configured: its channel is one as others are."""
    memory: Memory | None = None
    """None: there are no read models, so each recall fails as `unavailable`."""
    clock: Callable[[], datetime] = _wall_clock
    found: Mapping[int, int] = field(default_factory=dict)
    """The last output of each partition when this began. An ask up to there may have its result
    though it comes for the first time: a restored log's consumers begin further back."""
    ledger: Ledger = field(init=False)
    """Which asks the log says have ended."""
    parts: Parts = field(init=False)
    """Where the words of answers go as they come."""

    def __post_init__(self) -> None:
        """Open a ledger on the log; nothing is read before the first ask."""
        object.__setattr__(self, "ledger", Ledger(self.log))
        object.__setattr__(self, "parts", Parts(self.outlet))

    async def perform(self, held: QueuedAsk) -> None:
        """Perform one ask and append its result, unless the log already has one."""
        left_s = self.seconds_left(held)
        # A first, timely delivery has no result yet: the common case reads no log.
        record = held.output.record
        found = self.found.get(parse(record.subject).partition, 0)
        is_old = held.is_repeated or record.sequence <= found
        may_be_answered = is_old or left_s <= 0 or is_speech(held.ask)
        if may_be_answered and await self.ledger.is_answered(held):
            return
        started_at, begun_s = self.clock(), perf_counter()
        result = await self._result(held, left_s)
        if result.started_at is None:
            # A model's answer was measured closer to the call.
            measured: dict[str, object] = {"started_at": started_at}
            if not isinstance(result, DeliveryInterrupted):
                latency_ms = round((perf_counter() - begun_s) * 1000, 3)
                measured["latency_ms"] = latency_ms
            result = replace(result, **measured)
        await results.append(self.writer, self.log.epoch, held, result)

    def seconds_left(self, held: QueuedAsk) -> float:
        """Return for how many seconds the result is worth having; 0 or less is too late.

        Counted from the broker's time of the ask: the agent's may be a session's own.
        """
        stale_at = held.output.record.recorded_at + timedelta(seconds=held.ask.ttl_s)
        return (stale_at - self.clock()).total_seconds()

    async def _result(self, held: QueuedAsk, left_s: float) -> EffectResult:
        output = held.output
        match held.ask:
            case ModelAsked() as asked:
                context = await traceparent(self.log, output, asked)
                # A race that the heuristic won, or a crowded-out decision, is not paid for
                # any more.
                is_late = left_s <= 0 or await self.ledger.is_given_up(held)
                return await ask_models(
                    self.model,
                    output.id,
                    asked,
                    within_s=0.0 if is_late else left_s,
                    headers={"traceparent": context},
                    hear=self._hear(held, asked),
                )
            case RecallAsked() as asked:
                return await recall(self.memory, output, asked, within_s=left_s)
            case TurnAsked() if left_s <= 0:
                return TurnFailed(
                    ask_id=output.id, reason="stale", detail="it would come too late"
                )
            case TurnAsked():
                return TurnGranted(ask_id=output.id)
            case DeliveryAsked() if is_told(held.ask):
                return await tell(self.log, self.writer, held, within_s=left_s)
            case DeliveryAsked(output="speech"):
                return await utter(self, held, within_s=left_s)
            case DeliveryAsked(channel=channel) as asked if (
                channel == WEBHOOK and self.webhook is not None
            ):
                return await self.webhook.deliver(output.id, asked, within_s=left_s)
            case DeliveryAsked() as asked:
                return await deliver(
                    self.outlet, output.id, output.agent, asked, within_s=left_s
                )

    def _hear(self, held: QueuedAsk, asked: ModelAsked) -> Hear | None:
        """Return what hears the words as they come; a webhook gets no parts."""
        is_post = asked.channel == WEBHOOK and self.webhook is not None
        return self.parts.hear(held, asked) if asked.stream and not is_post else None


_BACK = (200, 5_000)
"""How many messages back a decision is looked for; one that waited longer is not found."""
_PAGE = 1_000


async def traceparent(log: ReadableLog, output: Output, asked: ModelAsked) -> str:
    """Return the W3C `traceparent` of what a model's call causes.

    A call for a vote or a reflection is in the trace of the input that asked for it.
    """
    occasion = None
    if not asked.is_afterwards:
        occasion = await _occasion(log, output, asked.decision_id)
    named = occasion or output.mark.cause_id
    return ids.traceparent(named, ids.ask_span_id(output.id))


async def _occasion(log: ReadableLog, output: Output, decision_id: str) -> str | None:
    """Return what a decision's trace is named after; None if it is not near."""
    subject = output_subject(
        output.partition, output.agent, Decided.kind, Decided.token
    )
    end = output.record.sequence
    for back in _BACK:
        after = max(0, end - back)
        while records := await log.page(subject, after, _PAGE):
            for record in records:
                if record.headers.get("ce-id") == decision_id:
                    return await _named_after(log, read_output(record))
            after = records[-1].sequence
            if after >= end:
                break
    return None


async def _named_after(log: ReadableLog, decided: Output) -> str | None:
    message = decided.message
    cause = await log.record(decided.mark.cause_sequence)
    if cause is None or not isinstance(message, Decided):
        return None
    # What a timer made the mind decide is no event's: its trace is named after itself.
    is_event = isinstance(read_input(cause).message, Sensed)
    return message.event_id if is_event else decided.id
