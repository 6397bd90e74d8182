"""`echoic watch`, `explain` and `state`: what was decided, why, and what is known."""

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from echoic.cli import moments
from echoic.cli.connected import decision_named, known_at, on_instance
from echoic.cli.options import Call, new_app
from echoic.cli.progress import Typing
from echoic.client import decision_json, known_agents, parts
from echoic.client import state as remembering
from echoic.client.connection import Connection
from echoic.client.names import Names, heuristic_names
from echoic.client.nearest import Near, nearest
from echoic.client.parts import Part
from echoic.client.state import AgentSnapshot
from echoic.client.watch import answered, last_answered
from echoic.errors import EchoicError, NotFoundError
from echoic.explain import explain
from echoic.explain.as_json import explained as explained_json
from echoic.explain.exchanges import exchanges
from echoic.explain.explain import Explanation
from echoic.terminal import decisions
from echoic.terminal.exchanges import screen as exchanges_screen
from echoic.terminal.explanation import explained
from echoic.terminal.output import note, print_json, show, terminal
from echoic.terminal.screen import rendered, text
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.codec.envelope import Output
from schemas.messages.controls import HeuristicEdited
from schemas.messages.learning import HeuristicFormed
from schemas.values.lazily import Lazily
from schemas.values.subjects import partition_of

if TYPE_CHECKING:
    from echoic.cli import watch_map
else:
    # Of these commands, only a map has a scene.
    watch_map = Lazily("echoic.cli.watch_map")

app = new_app("watching", "What was decided, and why.")


@app.command()
def watch(
    call: Call,
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n")] = None,
    on_map: Annotated[bool, typer.Option("--map")] = False,
    at: Annotated[str | None, typer.Option(metavar="TIME")] = None,
    speed: Annotated[float, typer.Option(min=1.0, max=86_400.0)] = 60.0,
    once: bool = False,
) -> None:
    """Show each decision as it is made, and what is learnt of models, until Ctrl-C.

    With `--map` the characters on a map: who is where, does and says what, and which layer
    decided. Of a recording (a session's file, several, or their folder) it is played: space
    pauses, + and - change the pace, q ends. If output is not a terminal, one
    snapshot is printed.

    Examples: `echoic watch`, `echoic watch --json | jq .silence`, `echoic watch --map`,
    `echoic watch --map packs/village/recording --at 12:00`.

    Args:
        files: With `--map`: recordings.
        limit: Stop after so many.
        on_map: Draw the characters.
        at: Of a recording: begin, or look, at that time of its first day, or one in full.
        speed: Of a recording: so many of its seconds in one.
        once: Show the map once.
    """
    if not on_map and (files or at is not None or once):
        raise EchoicError("only a map is of recordings", next_step="echoic watch --map")
    if files:
        watch_map.recorded(call, files, at, speed, once=once)
        return
    if on_map:
        watch_map.live(call, once=once)
        return
    on_instance(call, lambda each: _watch(each, limit, call.as_json))


@app.command(name="explain")
def _explain(
    call: Call,
    id_: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    last: bool = False,
    last_silent: bool = False,
    what_if: Annotated[list[str] | None, typer.Option(metavar="NAME=NUMBER")] = None,
    prompt: bool = False,
) -> None:
    """Explain a decision, from the log alone.

    Examples: `echoic explain --last-silent`, `echoic explain 01a1fc31 --what-if
    threshold=0.6`.

    Args:
        id_: Its id, or how that begins; or its event's or trace's id.
        last: The last decision.
        last_silent: The last silence.
        what_if: Suppose another number.
        prompt: And what models were told, what they sent, and what was read of it.
    """
    # Imported here: no other command of this file looks at traces.
    from echoic.client.untraced import why_untraced

    if (id_ is not None) + last + last_silent > 1:
        raise EchoicError("give one of ID, --last and --last-silent")
    suppositions = dict(_supposition(text) for text in what_if or ())

    async def run(
        connection: Connection,
    ) -> tuple[DecisionRecord, Explanation, tuple[Near, ...]]:
        record = await decision_named(connection, id_ or "last", is_silent=last_silent)
        names = await heuristic_names(connection.log, record.agent)
        near = await nearest(connection, record)
        return record, explain.explain(record, names, suppositions), near

    record, explanation, near = on_instance(call, run)
    link = decision_json.trace_url(call.settings.trace_ui, record)
    untraced = why_untraced(call.settings, record)
    told = f"Not alike enough: {', '.join(map(str, near))}." if near else ""
    page = tuple(explained(record, explanation, link, untraced, told))
    fields = {
        **explained_json(record, explanation),
        "trace_url": link,
        "untraced": untraced,
        "nearest": near,
    }
    if prompt:
        sent = exchanges(record)
        fields["exchanges"] = [asdict(each) for each in sent]
        page = (*page, *exchanges_screen(sent))
    call.show(fields, page)


@app.command()
def state(
    call: Call,
    name: Annotated[str | None, typer.Argument(metavar="[AGENT]")] = None,
    at: Annotated[str | None, typer.Option(metavar="SEQ|TIME")] = None,
) -> None:
    """Show what the mind knows of an agent, now or at any time before.

    A time is `10:00`, `5 minutes ago`, `now` or one in full.

    Examples: `echoic state`, `echoic state steve --at 2026-11-21T12:00:00Z`, `echoic state
    --at '5 minutes ago'`.

    Args:
        name: The companion, as `--agent` names it.
        at: As of then.
    """
    sequence, moment = _place(at)
    call = replace(call, agent=name or call.agent)

    async def run(connection: Connection) -> tuple[AgentSnapshot, Names]:
        found = await known_at(connection, sequence, moment)
        return found, await heuristic_names(connection.log, call.settings.agent)

    found, names = on_instance(call, run)
    name = call.settings.agent
    call.show(remembering.as_fields(found, name), decisions.state(found, name, names))


async def _watch(connection: Connection, limit: int | None, as_json: bool) -> None:
    agent = connection.settings.agent
    names = await heuristic_names(connection.log, agent)
    position = await last_answered(connection.log, partition_of(agent))
    note(f"watching {agent}; Ctrl-C ends")
    try:
        await known_agents.check(connection)
    # An agent that is not known yet may become so while somebody watches.
    except NotFoundError as error:
        note(error.what)
    if as_json:
        await _follow(connection, names, position, limit, None)
        return
    note(rendered([decisions.heading(terminal())], terminal()))
    writing = _Writing()
    async with parts.heard(connection, agent, writing.hear):
        await _follow(connection, names, position, limit, writing)


class _Writing:
    """Answers that are being written, shown as they come."""

    def __init__(self) -> None:
        self.typing = Typing()
        self._ended: deque[str] = deque(maxlen=100)

    def hear(self, part: Part) -> None:
        """Show a part, unless its decision is final: they come by another way."""
        if part.decision_id not in self._ended:
            self.typing(part.text)

    def end(self, record: DecisionRecord) -> None:
        """Make way for a decision that is final."""
        self.typing.stop()
        self._ended.append(record.id)


async def _follow(
    connection: Connection,
    names: Names,
    position: int,
    limit: int | None,
    writing: _Writing | None,
) -> None:
    """Show each decision; as JSON without `writing`."""
    agent = connection.settings.agent
    count = 0
    records = DecisionRecords()
    async for input_, outputs in answered(connection.log, agent, position):
        found = records.take(input_, outputs)
        # Reading names reads a part of the log: again only when one may have changed.
        is_renamed = isinstance(input_.message, HeuristicEdited)
        if is_renamed or any(_is_news(each, names) for each in found):
            names = await heuristic_names(connection.log, agent)
        for record in found:
            if writing is None:
                print_json(decision_json.as_fields(record))
            elif record.is_final:
                writing.end(record)
                show(decisions.line(record, names, terminal()))
            count += record.is_final
            if count == limit:
                return
        if writing is not None:
            names = _show_lessons(outputs, names)


def _is_news(record: DecisionRecord, names: Names) -> bool:
    """Tell whether the heuristic that answers is newer than the names that were read."""
    return record.heuristic_id is not None and record.heuristic_id not in names


def _show_lessons(outputs: Sequence[Output], names: Names) -> Names:
    """Print what a group taught; return the names, with those just formed."""
    for output in outputs:
        message = output.message
        if isinstance(message, HeuristicFormed):
            names = {**names, message.heuristic_id: message.name}
        line = decisions.lesson(message, names)
        if line is not None:
            show(text((f"{output.at.astimezone():%H:%M:%S} {line}", "dim")))
    return names


def _supposition(text: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    try:
        if equals:
            return name.strip(), float(number)
    # Falls through to the one error for both kinds of nonsense.
    except ValueError:
        pass
    raise EchoicError(f"{text!r} supposes nothing", next_step="--what-if threshold=0.6")


def _place(text: str | None) -> tuple[int | None, datetime | None]:
    """Parse a sequence, a time or neither; one of the two is None."""
    if text is None:
        return None, None
    # A sequence is digits alone; no time is.
    if text.isdecimal():
        return int(text), None
    return None, moments.moment(text, "--at")
