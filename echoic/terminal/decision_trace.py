"""A trace in a terminal: a tree of spans, each with its start and how long it took. Pure."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Column

from echoic.client.decision_trace import ShownSpan
from echoic.terminal.screen import number, table, text, words
from echoic.tracing import conventions as names
from echoic.tracing.spans import SpanEvent

_UNTIMED = "·"
"""Shown where a time is not known."""
_SHOWN = {
    names.SUMMARY: "{}",
    names.GEN_AI_REQUEST_MODEL: "{}",
    names.GEN_AI_USAGE_OUTPUT_TOKENS: "{} tokens",
    names.MESSAGING_DESTINATION_NAME: "{}",
    names.FIRE_OUTCOME: "{}",
}
"""The attributes that are worth their room, and how; Jaeger shows all."""
_EVENTS = 8
"""Events of one span at most; Jaeger shows all."""


def traced(
    spans: Sequence[ShownSpan], link: str, *, is_measured: bool
) -> Iterator[RenderableType]:
    """Yield a decision's trace on a page, with its link."""
    start_ns = min((each.span.start_ns for each in spans), default=0)
    header = (Column("span", no_wrap=True), number("at"), number("took"), words())
    yield table(header, [row for each in spans for row in _rows(each, start_ns)])
    yield ""
    if not is_measured:
        yield text(
            (
                f"{_UNTIMED} From the log, which has the broker's times of what came in"
                " and went out, and not those of the worker's steps between.",
                "dim",
            )
        )
    yield link


def _rows(shown: ShownSpan, start_ns: int) -> Iterator[tuple[str, str, str, str]]:
    span, indent = shown.span, "  " * shown.depth
    at = took = _UNTIMED
    if shown.is_timed:
        at = _duration(span.start_ns - start_ns)
        took = _duration(span.end_ns - span.start_ns)
    has = span.attributes
    known = [how.format(has[name]) for name, how in _SHOWN.items() if name in has]
    told = "; ".join([*known, *([span.error] if span.error else [])])
    # As Jaeger titles a trace: `crafter: vital_changed`.
    whose = f"{span.service}: " if span.service and not shown.depth else ""
    yield f"{indent}{whose}{span.name}", at, took, told
    for event in span.events[:_EVENTS]:
        # What only says that it came to pass says when.
        is_moment = shown.is_timed and not event.attributes
        when = _duration(event.at_ns - start_ns) if is_moment else ""
        yield f"{indent}  - {event.name}", when, "", _told(event)
    if len(span.events) > _EVENTS:
        yield f"{indent}  - …", "", "", f"{len(span.events) - _EVENTS} more"


def _duration(ns: int) -> str:
    """Return a duration of so many nanoseconds: `850 µs`, `41.2 ms`, `1.30 s`."""
    if ns < 1_000_000:
        return f"{ns / 1e3:.0f} µs"
    if ns < 1_000_000_000:
        return f"{ns / 1e6:.1f} ms"
    return f"{ns / 1e9:.2f} s"


def _told(event: SpanEvent) -> str:
    # The prefix is the same in all of them.
    pairs = (
        f"{name.removeprefix('echoic.')}={value}"
        for name, value in event.attributes.items()
    )
    return " ".join(pairs)
