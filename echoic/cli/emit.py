"""`echoic emit` and `output`: have a text said, and what is being said."""

from datetime import datetime
from typing import Annotated, Literal

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.durations import seconds
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from handlers.mind.flows.initiate import REQUEST
from schemas.messages.decisions import Decided
from schemas.messages.executive import OutputRequested
from schemas.state.executive import SpokenResponse, Unsaid

app = new_app("emit", "Say exactly this text.")

_WAITS = {
    "queued": "it waits until nobody is busy, or for a break; echoic activity list",
    "deferred": "it waits until nobody has spoken for a while",
    "batched": "it waits, to be said with others about the same",
}


@app.command()
def emit(
    call: Call,
    text: str,
    person: str | None = None,
    channel: str | None = None,
    type_: Annotated[
        Literal["alert", "observation", "suggestion", "question", "quip"],
        typer.Option("--type"),
    ] = "observation",
    urgent: bool = False,
    span: Annotated[str | None, typer.Option("--for", metavar="SPAN")] = None,
) -> None:
    """Say exactly this text, as far as the limits allow.

    It waits while the person is busy, and a quiet, a mute, quiet hours, a cooldown or the
    rate keep it from being said; the decision on it says so.

    Examples: `echoic emit "Dinner is ready."`, `echoic emit "The oven is on fire" --type
    alert`, `echoic emit "Call Lee" --person ada --channel phone`.

    Args:
        text: What is to be said.
        person: For whom; else for everybody.
        channel: Where it goes; else where responses go.
        type_: What sort of response it is; an alert passes all limits but a mute.
        urgent: Whether it is said even while the person is busy.
        span: For how long it is worth saying, such as 90s or 10m; else 5 minutes.
    """
    control = OutputRequested(
        text=text,
        person=person,
        channel=channel,
        response_type=type_,
        urgent=urgent,
        ttl_s=None if span is None else seconds(span, 'echoic emit "Hello" --for 10m'),
    ).checked()
    (made,) = (
        each
        for each in send(call, control)
        if isinstance(each, Decided) and each.type == REQUEST
    )
    told = {"path": made.path, "final": made.final, "silence": made.silence}
    call.show({**told, "text": text}, [_became(made)])


@app.command()
def output(call: Call) -> None:
    """Show what is being spoken, what is to be, and what was cut off.

    What is written goes out at once, and is not here.

    Example: `echoic output`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        known = (await known_at(connection)).agent.executive
        return [*map(_spoken, known.speech.asked), *map(_cut_off, known.speech.unsaid)]

    rows = on_instance(call, run)
    header = ("state", "response", "at", "detail")
    call.show_rows(rows, header, map(dict.values, rows), "nothing is being spoken")


def _spoken(each: SpokenResponse) -> dict[str, object]:
    state = "waiting" if each.begun_at is None else "speaking"
    return _row(state, each.decision_id, each.begun_at or each.asked_at, "")


def _cut_off(each: Unsaid) -> dict[str, object]:
    heard = f"{each.reason}, after {each.after_ms / 1_000:.1f} s"
    return _row("cut off", each.decision_id, each.at, heard)


def _row(state: str, id_: str, at: datetime, detail: str) -> dict[str, object]:
    shown = f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
    return {"state": state, "response": id_, "at": shown, "detail": detail}


def _became(made: Decided) -> str:
    if made.silence is not None:
        return f"not said: {made.silence}; echoic explain --last"
    if made.final:
        return "said"
    return f"not said yet: {_WAITS.get(str(made.timing), made.timing)}"
