"""Where the report comes from, and how to make it again.

Its rule: whoever holds the same recording and this section gets the same bytes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from echoic.web.report.format import (
    UNKNOWN,
    counted,
    label,
    moment,
    number,
    percent,
    strategy_name,
)
from echoic.web.report.html_builder import Content, Fields, Html, brief, el, join


def provenance(document: Fields) -> Html:
    """The command, the sessions, both configurations, and what the rest rests on."""
    found = document.get("provenance") or {}
    command = document.get("command") or found.get("command") or ""
    shown = {name: value for name, value in found.items() if name != "command"}
    return el(
        "section",
        el("h3", "How to make this again"),
        _command(command),
        el(
            "dl",
            _entry("Made by", f"echoic {document.get('echoic', '')}"),
            _entry("Frozen set of sessions", el("code", str(document.get("frozen")))),
            *(_entry(label(name), _written(value)) for name, value in shown.items()),
            class_="facts",
        ),
        _sessions(document.get("sessions") or ()),
        class_="card",
    )


def strategies(document: Fields) -> Html:
    """What is compared, in full."""
    compared = [("a", document["baseline"])]
    compared += [("b", each["challenger"]) for each in document["comparisons"]]
    return el(
        "section",
        el("h3", "Strategies"),
        el("div", *(_strategy(side, each) for side, each in compared), class_="pair"),
        class_="card",
    )


def session_outcomes(document: Fields) -> Html | None:
    """What whole sessions came to, which no verdict of the page judges."""
    found = document.get("session_outcomes") or ()
    if not found:
        return None
    heads = ("Outcome", "Sessions", "Cut off", "Mean", "Standard error", "Better")
    rows = (
        el(
            "tr",
            el("th", f"{each['domain']}: {each['name']}", scope="row"),
            el("td", str(each["sessions"]), class_="number"),
            el("td", str(each["censored"]), class_="number"),
            el("td", number(each["mean"]), class_="number"),
            el("td", number(each["se"]), class_="number"),
            el("td", each["better"]),
        )
        for each in found
    )
    return el(
        "section",
        el("h3", "Whole sessions"),
        el(
            "p",
            "What the recorded sessions came to as a whole. A value per decision does not"
            " see these, so no verdict here judges them; `echoic ab` does.",
        ),
        el(
            "table",
            el("thead", el("tr", *(el("th", each, scope="col") for each in heads))),
            el("tbody", *rows),
            class_="numbers",
        ),
        class_="card",
    )


def outcomes(document: Fields) -> Html:
    """What counts as success, and how often it is known."""
    found = document.get("outcome") or {}
    known, unknown = found.get("known") or 0, found.get("unknown") or 0
    sources = (found.get("by_source") or {}).items()
    entries = (
        ("Preferred source", str(found.get("prefer") or UNKNOWN)),
        ("Window", number(found.get("window_s"), "s")),
        ("Worth of silence", number(found.get("silence"))),
        ("Worth of what is not seen", number(found.get("unseen"))),
        ("Known", f"{known:,} of {known + unknown:,}"),
        *((f"Known from {name}", f"{count:,}") for name, count in sorted(sources)),
        ("Cut off by a session's end", number(found.get("censored"))),
        ("Answered with feedback", percent(found.get("feedback_rate"))),
    )
    return el(
        "section",
        el("h3", "Outcome"),
        el("dl", *(_entry(name, value) for name, value in entries), class_="facts"),
        class_="card",
    )


def _command(command: str) -> Content:
    if not command:
        return None
    return el(
        "div",
        el("pre", el("code", command), tabindex=0),
        el("button", "Copy", type="button", class_="chip copy",
           aria_label="Copy the command"),
        class_="command",
    )  # fmt: skip


def _sessions(sessions: Sequence[Fields]) -> Html:
    heads = ("Session", "Agent", "From", "Decisions", "Asked", "Began", "Digest")
    rows = (
        el(
            "tr",
            el("th", brief(each.get("title") or each["id"]),
               el("small", brief(each["id"]), class_="machine"), scope="row"),
            *(
                el("td", value, class_=class_, data_label=head)
                for head, value, class_ in zip(heads[1:], (
                    brief(each.get("agent", "")),
                    brief(each.get("origin", "")),
                    number(each.get("decisions")),
                    number(each.get("asked")),
                    moment(each.get("started_at")),
                    str(each.get("digest", ""))[:12],
                ), (None, "machine", "number", "number", "machine", "machine"),
                    strict=True)
            ),
        )
        for each in sessions
    )  # fmt: skip
    table = el(
        "table",
        el("thead", el("tr", *(el("th", head, scope="col") for head in heads))),
        el("tbody", *rows),
        class_="stacked",
    )
    return el("details", el("summary", counted(len(sessions), "session")), table)


def _strategy(side: str, strategy: Fields) -> Html:
    name = strategy.get("name")
    version = strategy.get("version")
    config: Mapping[str, Any] = strategy.get("config") or {}
    return el(
        "div",
        el("h4", el("b", side.upper(), class_=side), " ", strategy_name(strategy)),
        el(
            "dl",
            _entry("Strategy", f"{name} {version}" if version is not None else str(name)),
            *(_entry(label(key), _written(config[key]))
              for key in config if key != "strategy"),
            _entry("Personality", str(strategy["personality"]))
            if strategy.get("personality") else None,
            _entry("Hash", el("code", str(strategy.get("config_hash", "")))),
            class_="facts",
        ),
    )  # fmt: skip


def _entry(name: str, value: Content) -> Html:
    return el("div", el("dt", name), el("dd", value))


def _written(value: Any) -> Content:
    """A value of any shape, in words as plain as it allows."""
    match value:
        case Mapping():
            return join(
                (join([f"{name.replace('_', ' ')} ", _written(each)])
                 for name, each in value.items()),
                ", ",
            )  # fmt: skip
        case str():
            return value
        case list() | tuple():
            return el("ul", *(el("li", _written(each)) for each in value))
        case _:
            return number(value)
