"""Inputs that a replay makes itself: what models answer, and its timers."""

from replay.cassette import UNKNOWN_TEXT, Take
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.codec.envelope import Input
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.values.record import Record

_SYNTHETIC = 1 << 48
"""The sequences of inputs that a replay makes begin here, above any of a real log."""


def made_input(
    message: InputMessage, agent: str, partition: int, number: int, time_ns: int
) -> Input:
    """Return the `number`-th input that a replay makes, at a broker's time."""
    wire = write_input(
        message,
        agent=agent,
        partition=partition,
        id_=f"replay-{number}",
        source="/echoic/replay",
    )
    place = _SYNTHETIC + number * 1_000
    return read_input(Record(wire.subject, wire.headers, wire.body, place, time_ns))


def result_of(
    ask_id: str, asked: ModelAsked, take: Take
) -> ModelAnswered | ModelFailed | None:
    """Return the result message of an ask; None if it never got one."""
    if take.failure is None:
        return ModelAnswered(
            ask_id=ask_id,
            request_hash=asked.request_hash,
            model=take.model,
            text=UNKNOWN_TEXT if take.text is None else take.text,
            finish_reason=take.finish_reason,
            tool_calls=take.tool_calls,
            refusal=take.refusal,
        )
    match take.failure:
        case "timeout" | "no_response" | "declined" | "unavailable" as reason:
            return ModelFailed(
                ask_id=ask_id,
                request_hash=asked.request_hash,
                reason=reason,
                detail=take.detail,
            )
        case _:
            return None
