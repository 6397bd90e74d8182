"""`echoic activity`: what people are doing, which decides whether answers wait."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.errors import EchoicError
from projections.folds.executive import people
from schemas.messages.executive import BreakSignalled, UserStateChanged
from schemas.state.executive import EVERYBODY, UserState

app = new_app("activity", "What people are doing: list, set, break.")

_FLAGS = ("busy", "typing", "in_menu", "asleep", "away")


@app.command(name="list")
def list_(call: Call) -> None:
    """List what people are doing, as was last said of each.

    Example: `echoic activity list`.
    """

    async def run(connection: Connection) -> list[dict[str, str]]:
        known = await known_at(connection)
        held = known.agent.executive.presence.people
        return [_row(person, held[person]) for person in sorted(held)]

    rows = on_instance(call, run)
    nothing = "nothing is known of anybody: echoic activity set --busy"
    columns = ("person", "state", "activity", "focus", "since")
    call.show_rows(rows, columns, map(dict.values, rows), nothing)


@app.command(name="set")
def set_(
    call: Call,
    person: str | None = None,
    busy: bool | None = None,
    typing: bool | None = None,
    asleep: bool | None = None,
    away: bool | None = None,
    doing: str | None = None,
    focus: str | None = None,
) -> None:
    """Say what a person is doing; what is not named stays as it was.

    While a person is busy, typing or asleep, answers that are not urgent wait for a break.

    Examples: `echoic activity set --busy --doing cooking`, `echoic activity set --no-busy`,
    `echoic activity set --person ada --focus "the tax return"`.

    Args:
        person: Whom it is about; else everybody.
        busy: Whether the person is not to be disturbed but urgently.
        typing: Whether the person is typing.
        asleep: Whether the person is asleep.
        away: Whether nobody is there to hear anything.
        doing: What the person is doing, in a word.
        focus: What the person is about; events near to it matter more. "" for nothing.
    """
    control = UserStateChanged(
        person=person,
        busy=busy,
        typing=typing,
        asleep=asleep,
        away=away,
        activity=doing,
        focus=focus,
    ).checked()
    told = control.as_fields()
    told.pop("person", None)
    del told["by"]
    if not told:
        raise EchoicError(
            "nothing is said of what the person does",
            next_step="echoic activity set --busy",
        )
    send(call, control)
    words = ", ".join(map(_in_words, told, told.values()))
    call.show(control.as_fields(), [f"{person or 'all'}: {words}"])


@app.command(name="break")
def _break(
    call: Call,
    signal: Annotated[str, typer.Argument()] = "asked",
    person: str | None = None,
) -> None:
    """Signal a natural break: what waited for one is said now.

    Examples: `echoic activity break`, `echoic activity break menu_closed --person ada`.

    Args:
        signal: What makes it a break, for example typing_paused.
        person: Whose break it is; else everybody's.
    """
    control = BreakSignalled(signal=signal, person=person).checked()
    send(call, control)
    call.show(control.as_fields(), [f"a break: {signal}"])


def _row(person: str, known: UserState) -> dict[str, str]:
    known = people.standing(known, datetime.now(UTC))
    flags = [name for name in _FLAGS if getattr(known, name)]
    return {
        "person": "all" if person == EVERYBODY else person,
        "state": ", ".join(flags) or "free",
        "activity": known.activity,
        "focus": known.focus,
        "since": f"{known.at.astimezone():%Y-%m-%d %H:%M:%S}",
    }


def _in_words(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"not {name}"
    return f"{name} {value}" if value else f"no {name}"
