"""What came of judged days, as text and as the tables of a page."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from bench.home.judging import Judged, Judgement, Met


def details(name: str, found: Judgement) -> str:
    """Return each need and each thing said of one day, in order of time."""
    lines = [f"{name}: needs", *(f"  {_need(each)}" for each in found.needs)]
    lines += [f"{name}: said", *(f"  {_said(each)}" for each in found.sayings)]
    return "\n".join(lines) + "\n"


def table(days: Mapping[str, Judgement]) -> str:
    """Return one line a day."""
    lines = [
        "| day | needs | met | late | missed | moot | said | needed | harmless"
        " | annoying |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in days.items():
        counts = [found.count(each) for each in ("met", "late", "missed", "moot")]
        needed = sum(bool(each.needed) for each in found.sayings)
        cells = [len(found.needs), *counts, len(found.sayings), needed]
        cells += [found.harmless, found.annoying]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def faults(days: Mapping[str, Judgement]) -> str:
    """Return what was missed, late or annoying, and on how many of the days."""
    missed: Counter[tuple[str, str]] = Counter()
    broken: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for found in days.values():
        bad = {(n.need.name, n.verdict) for n in found.needs if n.verdict in _BAD}
        missed.update(bad)
        rules = [rule for each in found.sayings for rule in each.annoying]
        times.update(rules)
        broken.update(set(rules))
    if not missed and not broken:
        return "Nothing was late, missed or annoying.\n"
    lines = ["| need | verdict | days |", "|---|---|---|"]
    lines += [f"| {n} | {v} | {count} |" for (n, v), count in sorted(missed.items())]
    lines += ["", "| annoyance | times | days |", "|---|---|---|"]
    lines += [f"| {n} | {times[n]} | {count} |" for n, count in sorted(broken.items())]
    return "\n".join(lines) + "\n"


def write(page: Path, tables: Mapping[str, Mapping[str, Judgement]]) -> None:
    """Put tables between the marks of a page that bear their names."""
    text = page.read_text(encoding="utf-8")
    for name, days in tables.items():
        begin, end = (f"<!-- home {name} {which} -->\n" for which in ("begins", "ends"))
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}{table(days)}\n{faults(days)}{end}{after}"
    page.write_text(text, encoding="utf-8")


_BAD = ("late", "missed")


def _need(met: Met) -> str:
    told = f" {clock(met.told.at)} {met.told.text!r}" if met.told else ""
    return f"{clock(met.at)} {met.verdict:6} {met.need.name}{told}"


def _said(judged: Judged) -> str:
    saying = judged.saying
    worth = (
        f"annoying: {', '.join(judged.annoying)}"
        if judged.annoying
        else f"needed: {', '.join(judged.needed)}"
        if judged.needed
        else "harmless"
    )
    return f"{clock(saying.at)} {saying.channel} {saying.text!r} {worth}"


def clock(seconds: float) -> str:
    """Return a second of the day as hours, minutes and seconds."""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
