"""The generated page of all metrics, made from the catalogue itself."""

from echoic.metrics.catalogue import (
    INSTANCE,
    METRICS,
    PROCESS,
    PROCESSES,
    PROJECTION,
    Metric,
)

_INTRODUCTION = """\
# Metrics

`echoic up` serves metrics for Prometheus at `http://127.0.0.1:9464/metrics`, and `echoic
top` shows the same in a terminal. `metrics.listen` moves them, and switches them off if it
is `off` or empty; if the port is taken, they are at a free one, and the start says so. They
have no password: outside loopback, put them where only Prometheus gets at them.

There is one endpoint for an instance. Processes beside its own (`worker.processes`, and the
one of the read models) report to it once a second; the label `process` tells them apart:
`worker-0` is the instance itself. When a process is started again its counters begin at 0,
which `rate()` expects. A process that says nothing for 10 s has `echoic_up` 0.

What is counted is what the log holds: an input counts once its answer is written, so a
worker that is killed counts nothing twice. Metrics change no decision and are never waited
for; an input costs the worker a few microseconds
([measured](performance.md#metrics)).

Labels have closed lists of values, below; what is on no list counts as `other`. None holds
an id, a source, a type or free text, so no sensor can add series. Only `metrics.agents`,
which is 0 by default, lets as many agents have a series of their own.

[`deploy/prometheus`](../deploy/prometheus) holds a configuration and alert rules with what
to do about each; [`deploy/grafana`](../deploy/grafana) a dashboard and its provisioning.
This page is generated: `make docs` writes it, `make check` compares it.

| metric | kind | labels | meaning |
|---|---|---|---|
"""


def render() -> str:
    """Return the whole page."""
    rows = "".join(_row(each) for each in METRICS)
    lists = "".join(_lists(each) for each in METRICS if each.labels)
    return f"{_INTRODUCTION}{rows}\n## Values of labels\n\n{_processes()}{lists}"


def _row(metric: Metric) -> str:
    labels = [*metric.labels] + ([] if metric in INSTANCE else [PROCESS])
    shown = ", ".join(f"`{label}`" for label in labels)
    return f"| `{metric.name}` | {metric.kind} | {shown} | {metric.meaning} |\n"


def _processes() -> str:
    return (
        f"- `{PROCESS}`: `{PROCESSES[0]}` to `{PROCESSES[-2]}`, which run the mind;"
        f" `{PROCESSES[-1]}`, which alone has"
        f" {', '.join(f'`{each.name}`' for each in PROJECTION)}\n"
    )


def _lists(metric: Metric) -> str:
    return "".join(
        f"- `{label}` of `{metric.name}`: {', '.join(f'`{each}`' for each in values)}\n"
        for label, values in metric.labels.items()
        if values
    )
