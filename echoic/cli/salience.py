"""`echoic salience`: what matters more or less for a while, listed, made and undone."""

from datetime import datetime
from typing import Annotated, Literal

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.durations import in_units, seconds
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.names import meant_id
from echoic.client.state import in_force
from echoic.errors import EchoicError
from schemas.messages.executive import SalienceModulated
from schemas.messages.notes import ControlApplied
from schemas.state.executive import Modulation, Restraint

app = new_app("salience", "What matters more or less for a while: list, set, clear.")

_EXAMPLE = 'echoic salience set suppress "the weather" --for 1h'


@app.command(name="list")
def list_(call: Call) -> None:
    """List what was asked for and is in force: topics, thresholds, quiet and mutes.

    Example: `echoic salience list`.
    """

    async def run(connection: Connection) -> list[dict[str, object]]:
        known = await known_at(connection)
        held = known.agent.executive
        rows: list[Modulation | Restraint] = []
        rows += in_force(held.peace.restraints, known.now)
        rows += in_force(held.peace.modulations, known.now)
        return [_row(each, known.name_of(each.person)) for each in rows]

    rows = on_instance(call, run)
    header = ("id", "change", "by", "about", "asked by", "for", "until")
    nothing = f"nothing is moved: {_EXAMPLE}"
    call.show_rows(rows, header, map(dict.values, rows), nothing)


@app.command(name="set")
def set_(
    call: Call,
    change: Literal["suppress", "heighten", "habituate", "threshold", "focus"],
    topic: Annotated[str | None, typer.Argument()] = None,
    by: Annotated[float | None, typer.Option(min=-1.0, max=1.0)] = None,
    span: Annotated[str | None, typer.Option("--for", metavar="SPAN")] = None,
    source: str | None = None,
    type_: Annotated[str | None, typer.Option("--type")] = None,
    person: str | None = None,
) -> None:
    """Have a topic, a source or a type of event matter more or less.

    `suppress`: nothing of it is said, but alerts; `heighten`: it needs less to be said;
    `habituate`: less of its salience counts; `focus`: it matters more, and all else less;
    `threshold`: all must matter so much more, or with a negative number less.

    Examples: `echoic salience set suppress "the weather" --for 1h`, `echoic salience set
    heighten --type doorbell`, `echoic salience set threshold --by -0.2`.

    Args:
        change: What is changed.
        topic: What it is about, in words.
        by: By how much; else as is usual for the change.
        span: For how long, such as 90s, 10m or 2h; else until cleared.
        source: Only events of this sensor.
        type_: Only events of this type.
        person: For whom; else for everybody.
    """
    control = SalienceModulated(
        change=change,
        about=topic,
        source=source,
        type=type_,
        amount=by,
        for_s=None if span is None else seconds(span, _EXAMPLE),
        person=person,
    ).checked()
    _tell(call, control)


@app.command()
def clear(
    call: Call,
    id_: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    is_all: Annotated[bool, typer.Option("--all")] = False,
) -> None:
    """End one change by its id, or all that `salience list` shows.

    Examples: `echoic salience clear 3f2a91c0`, `echoic salience clear --all`.

    Args:
        id_: The change, as `salience list` shows it; its beginning is enough.
        is_all: All of them, quiet and mutes too.
    """
    if (id_ is None) != is_all:
        wrong = "name one change, or --all" if id_ is None else "--all takes no id"
        raise EchoicError(wrong, next_step="echoic salience list")
    if id_ is not None:
        id_ = on_instance(call, lambda connection: _whole(connection, id_ or ""))
    _tell(call, SalienceModulated(change="clear", modulation_id=id_).checked())


async def _whole(connection: Connection, start: str) -> str:
    """Return the id that is meant."""
    held = (await known_at(connection)).agent.executive
    ids = [each.id for each in held.peace.modulations] + [
        each.id for each in held.peace.restraints
    ]
    return meant_id(start, ids, "modulation", listed_by="echoic salience list")


def _tell(call: Call, control: SalienceModulated) -> None:
    (applied,) = (
        each for each in send(call, control) if isinstance(each, ControlApplied)
    )
    call.show(control.as_fields(), [f"{in_units(applied.detail)}, from here"])


def _row(held: Modulation | Restraint, name: str) -> dict[str, object]:
    amount, about = "", ""
    change: str
    if isinstance(held, Modulation):
        change, amount = held.change, f"{held.amount:+g}"
        known = (held.about, held.source and f"source {held.source}", held.type)
        about = ", ".join(each for each in known if each)
    else:
        change = held.mode
    return {
        "id": held.id,
        "change": change,
        "by": "" if change == "suppress" else amount,
        "about": about,
        "asked_by": held.by,
        "for": name or "everybody",
        "until": _time(held.until),
    }


def _time(at: datetime | None) -> str:
    return "taken back" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
