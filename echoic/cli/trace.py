"""`echoic trace`: a decision's trace here and in Jaeger, and traces that were spooled."""

import os
import webbrowser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from echoic.cli import moments
from echoic.cli.connected import decision_named, on_instance
from echoic.cli.options import Call, new_app
from echoic.client.connection import Connection
from echoic.client.decision_json import trace_of, trace_url
from echoic.client.decision_trace import ShownSpan, from_log, tree
from echoic.client.untraced import why_untraced
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotFoundError, NotRunningError
from echoic.terminal.decision_trace import traced
from echoic.terminal.output import note
from echoic.terminal.screen import counted
from echoic.tracing import resend
from echoic.tracing.collector import Collector, CollectorError, endpoint
from echoic.tracing.destinations import SPOOL, Spool
from echoic.tracing.spans import SpanData
from replay.recording.decisions import DecisionRecord


class _ShowsByDefault(TyperGroup):
    """A group in which what is no command is what `show` is to show."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put `show` before an id or an option of its own."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = new_app(
    "trace",
    "A decision as a trace, and traces that wait in a file. `echoic trace ID` shows one.",
)
app.info.cls = _ShowsByDefault


@app.command()
def show(
    call: Call,
    id_: Annotated[str, typer.Argument(metavar="ID")] = "last",
    open_: Annotated[bool, typer.Option("--open")] = False,
) -> None:
    """Show the trace of a decision, and where Jaeger shows it.

    Examples: `echoic trace 01a1fc31`, `echoic trace last --open`.

    Args:
        id_: Its id, or how that begins; or its event's or trace's id; else the last one.
        open_: Open Jaeger's page in a browser.
    """
    spool = _spool(call.settings)

    async def run(
        connection: Connection,
    ) -> tuple[DecisionRecord, list[SpanData], bool]:
        record = await decision_named(connection, id_)
        spooled = resend.spans_of(spool, trace_of(record))
        spans = spooled or await from_log(connection.log, record)
        return record, spans, bool(spooled)

    record, found, is_measured = on_instance(call, run)
    link = trace_url(call.settings.trace_ui, record)
    spans = list(tree(found, is_measured=is_measured))
    untraced = why_untraced(call.settings, record)
    fields = {
        "decision_id": record.id,
        "trace_id": trace_of(record),
        "url": link,
        "untraced": untraced,
        "measured": is_measured,
        "spans": [_as_fields(each) for each in spans],
    }
    call.show(fields, traced(spans, link, is_measured=is_measured))
    if untraced is not None and not call.as_json:
        note(untraced)
    if open_ and not webbrowser.open(link):
        raise EchoicError("no browser can be opened here", next_step=link)


Session = Annotated[list[str] | None, typer.Option(metavar="NAME|FILE")]


@app.command()
def export(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    since: str | None = None,
    session: Session = None,
) -> None:
    """Copy the traces that wait for a collector into a file that Jaeger can open.

    A time is `10:00`, `5 minutes ago` or one in full. With `--session` they are made of
    what was recorded instead; those of a file need no instance.

    Examples: `echoic trace export --since '5 minutes ago' traces.jsonl`,
    `echoic trace export --session evening.echoic traces.jsonl`.

    Args:
        file: Where to; each line is a request in OTLP's JSON.
        since: Only spans that began then or later.
        session: A recorded session's name or file; may be given again.
    """
    spool = _spool(call.settings)
    start = moments.moment(since, "--since") if since else None
    start_ns = int(start.timestamp() * 1e9) if start else 0
    batches = _recorded(call, session, content=False) if session else spool.batches()
    with resend.new_copy(file) as copy:
        for resource, spans in resend.since(batches, start_ns):
            copy.send(resource, spans)
        if not copy.spans:
            raise _nothing(spool, session)
    counts = {"traces": len(copy.traces), "spans": copy.spans}
    told = f"{_counted(**counts)} in {file}"
    call.show({"file": str(file), **counts}, [told])


@app.command()
def send(call: Call, session: Session = None) -> None:
    """Send the traces that wait in the file to the collector, which takes them off it.

    With `--session` they are made of what was recorded; send none that was traced before,
    or Jaeger shows its spans twice.

    Examples: `OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318 echoic trace send`,
    `echoic trace send --session evening.echoic`.

    Args:
        session: A recorded session's name or file; may be given again.
    """
    collector = Collector(endpoint(call.settings.trace_endpoint, os.environ))
    if not collector.answers():
        raise NotRunningError(
            f"no trace collector at {collector.name}",
            next_step="set OTEL_EXPORTER_OTLP_ENDPOINT, or start one",
        )
    kept = "" if session else "what is left is kept: "
    try:
        if session:
            content = collector.endpoint.is_loopback
            sent = _sent(_recorded(call, session, content=content), collector)
        else:
            sent = resend.send(_spool(call.settings), collector)
    except CollectorError as error:
        raise EchoicError(
            f"the trace collector at {collector.name} took no more ({error})",
            next_step=f"{kept}echoic trace send",
        ) from error
    finally:
        collector.close()
    told = f"{counted(sent, 'span')} sent to {collector.name}"
    call.show({"spans": sent, "collector": collector.name}, [told])


def _recorded(call: Call, names: list[str], *, content: bool) -> Iterator[resend.Batch]:
    # Imported here: what replays loads much, and most commands have no use for it.
    from echoic.client.comparison import sources
    from echoic.client.replay_traces import recorded_batches

    return recorded_batches(sources(call.settings, names), content=content)


def _sent(batches: Iterable[resend.Batch], collector: Collector) -> int:
    sent = 0
    for resource, spans in batches:
        collector.send(resource, spans)
        sent += len(spans)
    return sent


def _nothing(spool: Spool, session: list[str] | None) -> NotFoundError:
    if session:
        return NotFoundError("no decision was recorded since then")
    return NotFoundError(
        f"no traces wait in {spool.path}",
        next_step="echoic doctor tells whether a collector takes them; `--session` makes"
        " them of a recorded session",
    )


def _counted(traces: int, spans: int) -> str:
    return f"{counted(traces, 'trace')} ({counted(spans, 'span')})"


def _spool(settings: Settings) -> Spool:
    return Spool(settings.data / SPOOL)


def _as_fields(shown: ShownSpan) -> dict[str, object]:
    span = shown.span
    return {
        "span_id": span.span_id,
        "parent_id": span.parent,
        "name": span.name,
        "timed": shown.is_timed,
        "start_ns": span.start_ns,
        "duration_ns": span.end_ns - span.start_ns,
        "attributes": dict(span.attributes),
        "events": [
            {"name": each.name, "attributes": dict(each.attributes)}
            for each in span.events
        ],
        "error": span.error,
    }
