"""`echoic quiet` and `mute`: how a person has peace, and takes that back."""

from typing import Annotated, Literal

import typer

from echoic.cli.connected import send
from echoic.cli.durations import seconds
from echoic.cli.options import Call, new_app
from schemas.messages.executive import Muted
from schemas.messages.notes import ControlApplied

For = Annotated[str | None, typer.Argument(metavar="[SPAN|off]")]

app = new_app("peace", "Peace for a while, or until taken back.")


@app.command()
def quiet(call: Call, span: For = None, person: str | None = None) -> None:
    """Have it quiet for a while, 10 minutes if nothing is said, or no longer.

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
    control = Muted(mode=mode, for_s=for_s, off=off, person=person)
    (applied,) = (
        each for each in send(call, control) if isinstance(each, ControlApplied)
    )
    call.show(control.model_dump(exclude_none=True), [f"{applied.detail}, from here"])
