"""`echoic quiet` and `mute`: how a person has peace, and takes that back."""

from typing import Annotated, Literal

import typer

from echoic.cli.connected import on_instance, send
from echoic.cli.durations import seconds
from echoic.cli.options import Call, new_app
from echoic.client import known_agents, peace
from echoic.client.connection import Connection
from projections.folds.executive import restraints
from schemas.messages.executive import Muted
from schemas.values.spoken_times import in_figures

For = Annotated[str | None, typer.Argument(metavar="[SPAN|off]")]

app = new_app("peace", "Peace for a while, or until taken back.")


@app.command()
def quiet(call: Call, span: For = None, person: str | None = None) -> None:
    """Have it quiet for a while, 10 minutes by default; `off` ends it.

    Alerts still pass, and answers to the words of whoever asked for quiet. In the ten
    minutes after it, an event must matter more than usual.

    Examples: `echoic quiet`, `echoic quiet 1h`, `echoic quiet off`.

    Args:
        span: For how long, such as 90s, 10m or 2h; `off`: it ends now.
        person: Whom it spares; else everybody.
    """
    _tell(call, "quiet", span, person)


@app.command()
def mute(call: Call, span: For = None, person: str | None = None) -> None:
    """Have it mute, until taken back or for a while: not even alerts pass.

    Examples: `echoic mute`, `echoic mute 8h`, `echoic mute off`.

    Args:
        span: For how long, such as 90s, 10m or 2h; `off`: it ends now.
        person: Whom it spares; else everybody.
    """
    _tell(call, "mute", span, person)


def _tell(
    call: Call, mode: Literal["quiet", "mute"], span: str | None, person: str | None
) -> None:
    off = span == "off"
    for_s = None if off or span is None else seconds(span, f"echoic {mode} 10m")
    control = Muted(mode=mode, for_s=for_s, off=off, person=person).checked()
    send(call, control)
    held = on_instance(call, _in_force)
    # Who takes back a quiet wants to be heard, which a mute would prevent.
    mine = (mode, control.person)
    others = [each for each in held if off or (each.mode, each.person) != mine]
    whom = f" for {person}" if person else ""
    said = f"{mode} no longer{whom}" if off else _described(control, whom)
    still = "".join(f"; still {each}" for each in others)
    fields = control.as_fields()
    call.show({**fields, "in_force": held}, [f"{said}, from here{still}"])


def _described(control: Muted, whom: str) -> str:
    seconds = restraints.lasts_s(control)
    span = f"for {in_figures(seconds)}" if seconds else "until taken back"
    return f"{control.mode}{whom} {span}"


async def _in_force(connection: Connection) -> list[peace.Peace]:
    await known_agents.check(connection)
    return await peace.of_agents(connection, [connection.settings.agent])
