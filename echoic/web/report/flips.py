"""Where the two strategies part: the matrix, and every such decision.

Its rule: the page carries the decisions as data and its script draws only those in view,
so that ten thousand open as fast as ten.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from echoic.web.report.format import (
    CLASSES,
    arm_name,
    class_name,
    counted,
    label,
    moment,
    number,
    percent,
    signed,
)
from echoic.web.report.html_builder import (
    Content,
    Fields,
    Html,
    brief,
    data,
    el,
    join,
    readable,
)

_ARM_SHOWN = 600
_TEXT_SHOWN = 4000
"""Longer texts are cut in the page; the document has them whole."""

STATUSES = {
    "regressed": ("▼", "regressed", "Away from what went well, or to what went badly."),
    "improved": ("▲", "improved", "Away from what went badly, or to what went well."),
    "unobserved": ("◌", "unobserved", "What would have come of it was not seen."),
    "unsupported": ("∅", "unsupported", "The recording could not have done it at all."),
}
"""How the page shows each status of a flip: symbol, word, meaning."""


def section(comparison: Fields, key: str) -> Html:
    """The matrix and the list, with the data that the script draws from."""
    flips = comparison.get("flips") or ()
    return el(
        "div",
        _who_answers(comparison),
        _listed(flips, comparison),
        data(f"{key}-flips-data", [row(flip) for flip in flips]),
        class_="flips",
        data_flips=f"{key}-flips-data",
    )


def _who_answers(comparison: Fields) -> Html:
    statuses = [
        el("div", el("dt", el("span", symbol, aria_hidden="true"), f" {words}", class_=name),
           el("dd", meaning))
        for name, (symbol, words, meaning) in STATUSES.items()
    ]  # fmt: skip
    return el(
        "section",
        el("h3", "Who answers"),
        el(
            "div",
            el("div", _matrix(comparison)),
            el("div", el("dl", *statuses, class_="statuses"), _drift(comparison)),
            class_="beside",
        ),
        class_="card",
    )


def _matrix(comparison: Fields) -> Html:
    """Who did what against who would have: each cell a filter of the list."""
    cells = {
        (cell["baseline"], cell["challenger"]): cell["count"]
        for cell in comparison.get("matrix") or ()
    }
    known = [name for name in CLASSES if any(name in pair for pair in cells)]
    seen = known + sorted({name for pair in cells for name in pair} - {*known})
    flips = Counter(_classes(flip) for flip in comparison.get("flips") or ())
    asked = sum(cells.values())
    most = max(cells.values(), default=1) or 1
    head = el(
        "tr", el("td"), *(el("th", class_name(name), scope="col") for name in seen)
    )
    rows = [
        el(
            "tr",
            el("th", class_name(here), scope="row"),
            *(
                el("td", _cell((here, there), cells.get((here, there), 0), most,
                               flips[here, there]))
                for there in seen
            ),
        )
        for here in seen
    ]  # fmt: skip
    return el(
        "figure",
        el("figcaption", "Down: ", el("b", "A", class_="a"), ". Across: ",
           el("b", "B", class_="b"), f". Of the {number(asked)} decisions that asked a"
           " strategy, by the odds of both; what was explored instead counts for neither."
           " Choose a cell to list its flips.",
           class_="quiet"),
        el("table", el("thead", head), el("tbody", *rows), class_="matrix"),
    )  # fmt: skip


def _listed(flips: Sequence[Fields], comparison: Fields) -> Html:
    listed = comparison.get("flip_decisions") or len(flips)
    expected = comparison.get("flips_total") or listed
    told = [f"the worst {len(flips):,} are listed"] if listed > len(flips) else []
    if expected != listed:
        told.insert(0, f"{number(expected)} flips are expected of those who draw")
    cut = el("small", "; ".join(told)) if told else None
    return el(
        "section",
        el("h3", counted(listed, "decision differs", "decisions differ"), cut),
        _controls(flips),
        el("p", class_="count quiet", role="status", aria_live="polite"),
        el("ol", class_="list", aria_label="Flips"),
        el("nav",
           el("button", "← Previous", type="button", data_step="-1"),
           el("button", "Next →", type="button", data_step="1"),
           class_="pager", aria_label="Pages of flips"),
        el("noscript", el("p", "The list needs JavaScript; the document has it as JSON.",
                          class_="quiet")),
        class_="card",
    )  # fmt: skip


def row(flip: Fields) -> dict[str, Any]:
    """One flip as the page's script reads it: every text readable, every number written."""
    baseline, challenger = flip["baseline"], flip["challenger"]
    logged = flip.get("logged") or {}
    outcome = flip.get("outcome")
    came_from = flip.get("outcome_from")
    whose = {"baseline": " of A's arm", "challenger": " of B's arm"}
    seen = number(outcome) + whose.get(flip.get("outcome_of") or "", "")
    seen += f" (from {came_from})" if came_from else ""
    return {
        "id": flip["decision"],
        "status": flip["status"],
        "classes": " ".join(_classes(flip)),
        "where": readable(f"{brief(flip['session'])} #{flip['sequence']}"),
        "at": moment(flip.get("at")),
        "kind": readable(f"{brief(flip['source'])} · {brief(flip['type'])}"),
        "text": _shortened(flip.get("text")),
        "a": _side(baseline),
        "b": _side(challenger) | {"unknown": bool(challenger.get("content_unknown"))},
        "taken": _taken(flip),
        "logged": [number(logged.get(name)) for name in
                   ("probability", "challenger_probability")],
        "outcome": None if outcome is None else seen,
        "why": [_gate(gate) for gate in flip.get("explanation") or ()],
    }  # fmt: skip


def _taken(flip: Fields) -> str:
    """Whose arm was really taken: exploration may take either, or a third."""
    taken = (flip.get("logged") or {}).get("arm")
    if flip["baseline"]["arm"] == flip["challenger"]["arm"] == taken:
        return "the arm of both"
    for side, name in (("baseline", "A's arm"), ("challenger", "B's arm")):
        if flip[side]["arm"] == taken:
            return name
    return f"another arm ({readable(arm_name(taken or ''))})"


def _side(arm: Fields) -> dict[str, Any]:
    return {
        "class": class_name(arm["arm_class"]),
        "arm": readable(brief(arm["arm"], _ARM_SHOWN)),
        "name": readable(arm.get("name") or arm_name(arm["arm"])),
        "text": _shortened(arm.get("text")),
    }


def _gate(gate: Fields) -> list[Any]:
    """Whose, whether passed, which, and the comparison that was made."""
    value, threshold = gate.get("value"), gate.get("threshold")
    test = ""
    if value is not None and threshold is not None:
        test = (
            f"{number(value)} {'≥' if value >= threshold else '<'} {number(threshold)}"
        )
    elif value is not None:
        test = number(value)
    margin = gate.get("margin")
    return [
        gate.get("whose") or "baseline",
        bool(gate["passed"]),
        label(readable(gate["gate"])),
        test,
        "" if margin is None else signed(margin),
    ]


def _shortened(text: str | None) -> str | None:
    if text is None:
        return None
    cut = len(text) - _TEXT_SHOWN
    if cut <= 0:
        return readable(text)
    return f"{readable(text[:_TEXT_SHOWN])}… (and {cut:,} more characters)"


def _cell(pair: tuple[str, str], count: float, most: float, flips: int) -> Content:
    ours, theirs = pair
    heat = f"--heat:{round(100 * (count / most) ** 0.5)}%"
    side = "same" if ours == theirs else "other"
    if not count:
        return el("span", "·", class_="cell none")
    noun = "decision" if count == 1 else "decisions"
    words = f"{class_name(ours)} to {class_name(theirs)}: {number(count)} {noun}"
    if not flips:
        return el("span", number(count), class_=f"cell {side}", style=heat, title=words)
    return el(
        "button", number(count), type="button", class_=f"cell {side}", style=heat,
        data_classes=f"{ours} {theirs}", aria_pressed="false", title=words,
        aria_label=f"{words}, list {counted(flips, 'flip')}",
    )  # fmt: skip


def _classes(flip: Fields) -> tuple[str, str]:
    return flip["baseline"]["arm_class"], flip["challenger"]["arm_class"]


def _controls(flips: Sequence[Fields]) -> Html:
    counts = Counter(flip["status"] for flip in flips)
    unknown = sum(bool(flip["challenger"].get("content_unknown")) for flip in flips)
    buttons = [_filter("", "", "all", len(flips), None)]
    buttons += [
        _filter(status, symbol, words, counts[status], meaning)
        for status, (symbol, words, meaning) in STATUSES.items()
    ]
    meaning = "Nobody asked the model this: its words are not known."
    buttons.append(_filter("unknown", "?", "content unknown", unknown, meaning))
    search = el(
        "label", el("span", "Search the flips", class_="unseen"),
        el("input", type="search", placeholder="Search   /",
           autocomplete="off", spellcheck="false"),
        class_="search",
    )  # fmt: skip
    group = el("div", *buttons, class_="filters", role="group", aria_label="Filter")
    return el("div", group, search, class_="controls")


def _filter(
    value: str, symbol: str, words: str, count: int, meaning: str | None
) -> Html:
    return el(
        "button",
        join([el("span", symbol, aria_hidden="true"), " "]) if symbol else None,
        words, " ", el("small", f"{count:,}"),
        type="button", class_=f"chip {value}", data_status=value, title=meaning,
        aria_pressed="false" if value else "true",
    )  # fmt: skip


def _drift(comparison: Fields) -> Content:
    drift = comparison.get("drift") or {}
    if not drift.get("decisions"):
        return None
    told = (
        f"Living with its own past, B would decide {drift['differ']:,} of"
        f" {drift['decisions']:,} otherwise than in A's situations"
        f" ({percent(drift['differ'] / drift['decisions'])})."
    )
    return el("p", told, class_="quiet drift")
