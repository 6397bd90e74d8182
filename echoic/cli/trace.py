"""`echoic trace`: a decision's trace here and in Jaeger, and traces that were spooled."""

import os
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from echoic.cli import moments
from echoic.cli.connected import decision_named, on_instance
from echoic.cli.options import Call, InstanceCall, new_app
from echoic.client.connection import Connection
from echoic.client.decision_json import trace_of, trace_url
from echoic.client.decision_trace import ShownSpan, from_log, tree
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
        id_: Its id, or how that begins; else the last one.
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
    fields = {
        "decision_id": record.id,
        "trace_id": trace_of(record),
        "url": link,
        "measured": is_measured,
        "spans": [_as_fields(each) for each in spans],
    }
    call.show(fields, traced(spans, link, is_measured=is_measured))
    if is_measured and not call.as_json:
        note(f"it waits in {spool.path}: echoic trace send")
    if open_ and not webbrowser.open(link):
        raise EchoicError("no browser can be opened here", next_step=link)


@app.command()
def export(
    call: InstanceCall,
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    since: str | None = None,
) -> None:
    """Copy the traces that wait for a collector into a file that Jaeger can open.

    A time is `10:00`, `5 minutes ago` or one in full.

    Example: `echoic trace export --since '5 minutes ago' traces.jsonl`.

    Args:
        file: Where to; each line is a request in OTLP's JSON.
        since: Only spans that began then or later.
    """
    spool = _spool(call.settings)
    start = moments.moment(since, "--since") if since else None
    start_ns = int(start.timestamp() * 1e9) if start else 0
    batches = list(resend.since(spool, start_ns))
    if not batches:
        raise NotFoundError(
            f"no traces wait in {spool.path}",
            next_step="echoic doctor tells whether a collector takes them",
        )
    # A new file each time: an earlier export would be mixed in.
    file.unlink(missing_ok=True)
    copy = Spool(file)
    for resource, spans in batches:
        copy.send(resource, spans)
    call.show(*_counted([span for _, spans in batches for span in spans], file))


@app.command()
def send(call: InstanceCall) -> None:
    """Send the traces that wait in the file to the collector, which takes them off it.

    Example: `OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318 echoic trace send`.
    """
    collector = Collector(endpoint(call.settings.trace_endpoint, os.environ))
    if not collector.answers():
        raise NotRunningError(
            f"no trace collector at {collector.name}",
            next_step="set OTEL_EXPORTER_OTLP_ENDPOINT, or start one",
        )
    try:
        sent = resend.send(_spool(call.settings), collector)
    except CollectorError as error:
        raise EchoicError(
            f"the trace collector at {collector.name} took no more ({error})",
            next_step="what is left is kept: echoic trace send",
        ) from error
    finally:
        collector.close()
    told = f"{counted(sent, 'span')} sent to {collector.name}"
    call.show({"spans": sent, "collector": collector.name}, [told])


def _spool(settings: Settings) -> Spool:
    return Spool(settings.data / SPOOL)


def _counted(
    spans: list[SpanData], file: Path
) -> tuple[Mapping[str, object], list[str]]:
    traces = len({span.trace_id for span in spans})
    told = f"{counted(traces, 'trace')} ({counted(len(spans), 'span')}) in {file}"
    return {"file": str(file), "traces": traces, "spans": len(spans)}, [told]


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
