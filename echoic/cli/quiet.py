"""`echoic quiet` and `mute`: how a person has peace, takes that back, and what they missed."""

from typing import Annotated, Literal

import typer

from echoic.cli.connected import known_at, on_instance, send
from echoic.cli.durations import seconds
from echoic.cli.options import Call, new_app
from echoic.client import known_agents, peace
from echoic.client.connection import Connection
from projections.folds.executive import restraints, silences
from schemas.messages.executive import Muted
from schemas.state.memory import Silent
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


@app.command()
def missed(call: Call, person: str | None = None) -> None:
    """List what mattered and ended unsaid, the latest first: what "what did I miss?" tells.

    A mute or a quiet kept it back, or it waited for longer than it was worth, or for too
    many others. To list it tells nobody: it stays until a person asks.

    Examples: `echoic missed`, `echoic missed --person ada --json`.

    Args:
        person: Only what this person may be told; else what anybody may.
    """
    found = on_instance(call, lambda connection: _missed(connection, person))
    rows = [
        {
            "at": each.at.isoformat(),
            "reason": each.reason,
            "person": whom,
            "text": each.about,
            "threat": each.is_threat,
            "decision_id": each.decision_id,
        }
        for each, whom in found
    ]
    cells = (
        (peace.shown(each.at), each.reason, whom or "all", each.about)
        for each, whom in found
    )
    header = ("at", "why unsaid", "for", "what")
    call.show_rows(rows, header, cells, "nothing was missed")


async def _missed(
    connection: Connection, person: str | None
) -> list[tuple[Silent, str]]:
    """Return what was missed, each with whose it is; empty if it concerned nobody alone."""
    known = await known_at(connection)
    memory = known.agent.executive.memory
    found = memory.missed if person is None else silences.missed(memory, person)
    return [
        (each, known.name_of(each.whom) if each.whom else "")
        for each in reversed(found)
    ]


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
    # What that is would have to be folded of all that the agent ever heard.
    still += "; what was missed: echoic missed" if off else ""
    fields = {**control.as_fields(), "in_force": held}
    call.show(fields, [f"{said}, from here{still}"])


def _described(control: Muted, whom: str) -> str:
    seconds = restraints.lasts_s(control)
    span = f"for {in_figures(seconds)}" if seconds else "until taken back"
    return f"{control.mode}{whom} {span}"


async def _in_force(connection: Connection) -> list[peace.Peace]:
    await known_agents.check(connection)
    return await peace.of_agents(connection, [connection.settings.agent])
