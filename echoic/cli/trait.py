"""`echoic trait`: move single traits of the personality, for a while or for good."""

from datetime import datetime
from typing import Annotated, Any

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.durations import seconds
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.personality import now_of, overrides_of
from echoic.errors import EchoicError
from echoic.explain.amounts import span
from schemas.messages.executive import TraitAdjusted
from schemas.values.personality import TRAITS, Trait

app = new_app("trait", "Traits moved by hand: set, list, clear.")

_EXAMPLE = "echoic trait set sarcasm -0.2 --for 10m"


@app.command(name="set", context_settings={"ignore_unknown_options": True})
def set_(
    call: Call,
    trait: Trait,
    amount: Annotated[float, typer.Argument(metavar="±AMOUNT")],
    span: Annotated[str | None, typer.Option("--for", metavar="SPAN")] = None,
    person: str | None = None,
) -> None:
    """Move a trait up or down, on top of template and context.

    Examples: `echoic trait set sarcasm -0.2 --for 10m`, `echoic trait set verbosity +0.3`.

    Args:
        trait: One of the seven.
        amount: From -1 to 1; it takes the place of an earlier one.
        span: For how long, such as 90s, 10m or 2h; else until cleared.
        person: Towards whom; else towards everybody.
    """
    if not -1.0 <= amount <= 1.0:
        raise EchoicError(f"{amount:g} is no amount: give -1 to 1", next_step=_EXAMPLE)
    for_s = None if span is None else seconds(span, _EXAMPLE)
    control = TraitAdjusted(
        trait=trait, by_amount=amount, for_s=for_s, person=person
    ).checked()
    send(call, control)
    lasts = f" for {span}" if span else ""
    call.show(control.as_fields(), [f"{trait} {amount:+g}{lasts}, from here"])


@app.command(name="list")
def list_(call: Call) -> None:
    """List the traits that somebody moved.

    Example: `echoic trait list`.
    """

    async def run(connection: Connection) -> list[dict[str, Any]]:
        known = await known_at(connection)
        now = now_of(known.agent)
        return [
            {**each, "left_s": _left_s(each["until"], now)}
            for each in overrides_of(known, now)
        ]

    rows = on_instance(call, run)
    cells = (
        (
            row["person"] or "everybody",
            row["trait"],
            f"{row['by']:+g}",
            "until cleared" if row["left_s"] is None else f"{span(row['left_s'])} left",
        )
        for row in rows
    )
    nothing = f"no trait is moved: {_EXAMPLE}"
    call.show_rows(rows, ("towards", "trait", "by", "lasts"), cells, nothing)


def _left_s(until: object, now: datetime) -> float | None:
    return (until - now).total_seconds() if isinstance(until, datetime) else None


@app.command()
def clear(call: Call, trait: Trait | None = None, person: str | None = None) -> None:
    """Take back what was moved: one trait, or all of them.

    Examples: `echoic trait clear --trait sarcasm`, `echoic trait clear`.

    Args:
        trait: Only this one.
        person: What was moved towards this person; else towards everybody.
    """
    wanted = TRAITS if trait is None else (trait,)
    for each in wanted:
        send(call, TraitAdjusted(trait=each, person=person).checked())
    words = "all traits are as they were" if trait is None else f"{trait} is as it was"
    call.show({"cleared": list(wanted)}, [words])
