"""The screen of `echoic top`: how the instance goes, by its metrics."""

from collections.abc import Iterator, Mapping

from rich.console import RenderableType

from echoic.metrics.reading import Figures
from echoic.terminal.screen import counted, pairs, text

_MOST = 6
"""Values of one kind on a line, the most frequent."""


def top(found: Figures, where: str) -> Iterator[RenderableType]:
    """Yield the screen's parts: what works, how fast, what was decided, what went wrong."""
    stretch = "since the start"
    if found.seconds is not None:
        stretch = f"the last {found.seconds:.0f} s"
    yield text(("echoic top", "bold"), f"  {where}, {stretch}")
    down = [name for name, works in found.processes.items() if not works]
    yield pairs(
        {
            "processes": f"{len(found.processes) - len(down)} of"
            f" {len(found.processes)} work"
            + ("".join(f", {each} not" for each in down)),
            "log": f"{counted(int(found.log_sequence), 'message')},"
            f" {counted(int(found.agents), 'agent')}",
            "inputs": f"{_rate(found.inputs, found)}, the last answered is"
            f" {found.waiting:,.0f} messages behind",
            "decisions": _several(found.decisions, found),
            "answers by": _several(found.paths, found),
            "silent for": _several(found.silences, found),
            "mind": _times(p50=found.decide_p50_s, p95=found.decide_p95_s),
            "answer": _times(p50=found.answer_p50_s, p95=found.answer_p95_s),
            "queue": _times(p95=found.queue_p95_s),
            "write": _times(p95=found.commit_p95_s),
            "model": f"{_several(found.model, found)}; {_times(p95=found.model_p95_s)}",
            "tokens": f"{_several(found.tokens, found)}; ${found.cost_usd:,.4f}",
            "feedback": _several(found.feedback, found),
            "outcomes": _several(found.outcomes, found),
            "heuristics": _several(found.heuristics, None),
            "read models": f"{counted(int(found.behind), 'partition')} behind, for"
            f" {found.lag_s:,.0f} s"
            if found.behind
            else "up with the log",
            "quarantine": _several(found.quarantined, found),
            "shed": _rate(found.shed, found),
            "mapped topics": _rate(found.mapped_topics, found),
            "faults": _several(found.faults, found),
            "disk": f"{found.disk_free_bytes / 1e9:,.1f} GB free",
        }
    )


def _rate(amount: float, found: Figures | None) -> str:
    """Return an amount: per second if it is of a stretch, else as it is."""
    if found is None or not found.seconds:
        return f"{amount:,.0f}"
    return f"{amount / found.seconds:,.1f}/s"


def _several(amounts: Mapping[str, float], found: Figures | None) -> str:
    shown = [
        f"{name} {_rate(each, found)}" for name, each in [*amounts.items()][:_MOST]
    ]
    rest = len(amounts) - len(shown)
    return (", ".join(shown) or "none") + (f" and {rest} more" if rest else "")


def _times(**quantiles: float | None) -> str:
    shown = (f"{name} {_time(each)}" for name, each in quantiles.items())
    return ", ".join(shown)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"
