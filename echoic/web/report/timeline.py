"""A session as two lanes: what each strategy did, moment by moment.

Its rule: pure; a lane is one path for each class of arms, so that thousands of moments
stay a few strokes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from echoic.web.report.format import class_name, counted, moment, percent
from echoic.web.report.html_builder import Content, Fields, Html, brief, el
from echoic.web.report.svg import Scale

_WIDTH = 1000
_LANES: Mapping[str, int] = {"baseline": 30, "challenger": 62}
"""The foot of each lane."""

_TALL: Mapping[str, int] = {
    "gated": 3,
    "silent": 6,
    "heuristic": 16,
    "llm": 22,
    "race": 22,
}
"""A class's height: how much is said, and by whom."""

_FOOT = 82


def session(timeline: Fields) -> Html:
    """One session's lanes, with a caption."""
    name, events = brief(timeline["session"]), timeline.get("events") or ()
    if not events:
        return el("p", "Nothing was decided.", class_="quiet")
    differ = sum(event["baseline"] != event["challenger"] for event in events)
    caption = (
        f"{counted(len(events), 'decision')}, {counted(differ, 'difference')}"
        f" ({percent(differ / len(events))})"
    )
    return el(
        "figure",
        el(
            "figcaption", el("b", name), " ",
            el("span", caption, class_="quiet"),
        ),
        _lanes(events, f"{name}: {caption}"),
        el(
            "div", el("span", moment(events[0]["at"])), el("span", moment(events[-1]["at"])),
            class_="ends quiet", aria_hidden="true",
        ),
        class_="session",
    )  # fmt: skip


def legend(timelines: Iterable[Fields]) -> Html:
    """Which mark means what, for what occurs."""
    seen = {
        event[side]
        for timeline in timelines
        for event in timeline.get("events") or ()
        for side in _LANES
    }
    keys = [
        el("span", el("i", class_=f"key {name}"), class_name(name))
        for name in _TALL
        if name in seen
    ]
    return el(
        "p",
        *keys,
        el("span", el("i", class_="key differs"), "they differ"),
        el("span", el("i", class_="key outcome-good"), "it went well"),
        el("span", el("i", class_="key outcome-bad"), "it did not"),
        class_="legend",
    )


def _lanes(events: Sequence[Fields], words: str) -> Html:
    x = _across([event["at"] for event in events])
    differ = [at for at, event in zip(x, events, strict=True)
              if event["baseline"] != event["challenger"]]  # fmt: skip
    parts: list[Content] = [_strokes(differ, 70, 66, "differs")]
    for side, foot in _LANES.items():
        parts.append(el("path", d=f"M0 {foot}H{_WIDTH}", class_="grid"))
        for name, height in _TALL.items():
            there = [
                at for at, event in zip(x, events, strict=True) if event[side] == name
            ]
            parts.append(_strokes(there, foot, height, f"tick {name}"))
    for tone, is_good in (("good", True), ("bad", False)):
        there = [at for at, event in zip(x, events, strict=True)
                 if event.get("outcome") is not None
                 and (event["outcome"] >= 0.5) is is_good]  # fmt: skip
        parts.append(_strokes(there, _FOOT, 8, f"tick outcome-{tone}"))
    names = [
        el("span", name, class_=f"lane {side}")
        for name, side in (("A", "a"), ("B", "b"), ("outcome", "o"))
    ]
    drawing = el(
        "svg", *parts, viewBox=f"0 0 {_WIDTH} {_FOOT + 2}", preserveAspectRatio="none",
        role="img", aria_label=words,
    )  # fmt: skip
    return el("div", *names, drawing, class_="lanes")


def _across(moments: Sequence[str]) -> list[float]:
    """Places to half a unit; moments are in order."""
    seconds = [datetime.fromisoformat(at).timestamp() for at in moments]
    scale = Scale(min(seconds), max(seconds), 3, _WIDTH - 3)
    return [round(scale(at) * 2) / 2 for at in seconds]


def _strokes(places: Iterable[float], foot: int, height: int, class_: str) -> Content:
    path = "".join(f"M{at:g} {foot}v-{height}" for at in dict.fromkeys(places))
    return el("path", d=path, class_=class_) if path else None
