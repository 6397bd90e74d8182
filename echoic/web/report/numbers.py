"""The numbers: success with its intervals, what happens as a fact, and what would change.

Its rule: each number wears its kind, and a number that may not be given leaves a gap.
"""

from collections.abc import Sequence

from echoic.web.report.figures import Effect, around_zero, effect_bar, pair, zero_axis
from echoic.web.report.format import (
    UNKNOWN,
    capitalised,
    interval,
    number,
    signed,
    strategy_name,
    verdict_sign,
)
from echoic.web.report.html_builder import Content, Fields, Html, brief, el, join, prose
from echoic.web.report.marks import absent, badge, kinds_legend, light


def headline(document: Fields, comparison: Fields) -> Html:
    """Success: observed, estimated, predicted, on a common zero line."""
    rows = comparison.get("headline") or ()
    if not rows:
        return absent(
            "Success", "No success can be compared here: only facts are given."
        )
    effects = [_effect(row) for row in rows]
    scale = around_zero(effects)
    heads = _sides(document, comparison)
    return el(
        "section",
        el("h3", "Success"),
        el(
            "table",
            _head("", *heads, "Difference", zero_axis(scale)),
            el("tbody", *(
                _row(row, el("td", effect_bar(effect, scale), class_="drawn on-zero"))
                for row, effect in zip(rows, effects, strict=True)
            )),
            class_="numbers stacked",
        ),
        kinds_legend(row["kind"] for row in rows),
        class_="card",
    )  # fmt: skip


def facts(document: Fields, comparison: Fields) -> Html:
    """What happens under either strategy."""
    rows = comparison.get("facts") or ()
    if not rows:
        return absent("What happens", "No facts were gathered.")
    heads = _sides(document, comparison)
    return el(
        "section",
        el("h3", "What happens"),
        el(
            "table",
            _head("", *heads, "Difference", el("span", "A above, B below", class_="quiet")),
            el("tbody", *(
                _row(row, el("td", pair(row.get("baseline"), row.get("challenger"),
                                        row.get("unit") or ""), class_="drawn"))
                for row in rows
            )),
            class_="numbers stacked",
        ),
        kinds_legend(row["kind"] for row in rows),
        class_="card",
    )  # fmt: skip


def sensitivity(comparison: Fields) -> Html:
    """Under which other assumptions the verdict would be another."""
    rows = comparison.get("sensitivity") or ()
    sentences = comparison.get("would_change") or ()
    effects = [Effect(row.get("difference"), row.get("ci"),
                      tone=verdict_sign(row["verdict"]).tone) for row in rows]  # fmt: skip
    scale = around_zero(effects)
    table = el(
        "table",
        _head("Assumed", "Difference", zero_axis(scale), "Verdict"),
        el("tbody", *(
            _supposition(row, effect_bar(effect, scale))
            for row, effect in zip(rows, effects, strict=True)
        )),
        class_="numbers suppositions stacked",
    )  # fmt: skip
    none = el("p", "Nothing was varied.", class_="quiet")
    return el(
        "section",
        el("h3", "What would change this verdict"),
        el("ul", *(el("li", prose(capitalised(each))) for each in sentences))
        if sentences
        else None,
        table if rows else None,
        none if not rows and not sentences else None,
        class_="card",
    )


def breakdown(comparison: Fields) -> Html:
    """Where the two differ: by source and type, or whatever was asked for."""
    rows = comparison.get("breakdown") or ()
    if not rows:
        return absent("Where they differ", "There is nothing to break down.")
    effects = [Effect(row.get("difference")) for row in rows]
    scale = around_zero(effects)
    heads = ("Decisions", "They differ", "Flip observations", "Difference")
    return el(
        "section",
        el("h3", "Where they differ"),
        el(
            "table",
            _head(f"By {rows[0]['by']}", *heads, zero_axis(scale)),
            el("tbody", *(
                el(
                    "tr",
                    el("th", brief(row["value"]), scope="row"),
                    el("td", number(row["decisions"]), class_="number", data_label=heads[0]),
                    el("td", _rounded(row["flips"]), class_="number", data_label=heads[1]),
                    el("td", _rounded(row.get("flip_observations")), class_="number",
                       data_label=heads[2]),
                    el("td", signed(row.get("difference"), "share"), class_="number",
                       data_label=heads[3]),
                    el("td", effect_bar(effect, scale), class_="drawn on-zero"),
                )
                for row, effect in zip(rows, effects, strict=True)
            )),
            class_="numbers breakdown stacked",
        ),
        class_="card",
    )  # fmt: skip


def _effect(row: Fields) -> Effect:
    ci, difference = row.get("ci"), row.get("delta")
    if ci is None or difference is None:
        return Effect(difference, bounds=ci)
    low, high = ci
    return Effect(
        difference, ci, tone="good" if low > 0 else "bad" if high < 0 else "open"
    )


def _row(row: Fields, drawn: Html) -> Html:
    # What has no unit and an interval is success, a share.
    unit = row.get("unit", "share")
    # A fact's share is how often something happens: in per cent it is read at once.
    unit = "percent" if unit == "share" and row["kind"] in ("fact", "imputed") else unit
    ci, low, high = row.get("ci"), row.get("low"), row.get("high")
    imputed = None if low is None or high is None else number((low, high), unit)
    return el(
        "tr",
        el("th", capitalised(row.get("label") or row["name"]), " ", badge(row["kind"]),
           _notes(row),
           scope="row"),
        el("td", number(row.get("baseline"), unit), class_="number", data_label="A"),
        el("td", number(row.get("challenger"), unit),
           el("small", imputed) if imputed else None, class_="number", data_label="B"),
        el("td", *_difference(row.get("delta"), ci, unit), class_="number",
           data_label="Difference"),
        drawn,
    )  # fmt: skip


def _difference(
    delta: float | None, ci: Sequence[float] | None, unit: str
) -> tuple[Content, ...]:
    """The difference over its interval; of bounds alone only these."""
    if ci is None:
        return (signed(delta, unit),)
    if delta is None:
        return (interval(ci, unit),)
    return signed(delta, unit), el("small", interval(ci, unit))


def _notes(row: Fields) -> Content:
    extra = row.get("extra") or {}
    others = [f"{name.upper()} {signed(extra[name])}" for name in ("snips", "ips", "dm")
              if extra.get(name) is not None]  # fmt: skip
    note = " · ".join([*([row["note"]] if row.get("note") else []), *others])
    return el("small", prose(note)) if note else None


def _supposition(row: Fields, drawn: Html) -> Html:
    sign = verdict_sign(row["verdict"])
    ci = row.get("ci")
    return el(
        "tr",
        el("th", row["what"], scope="row"),
        el("td", signed(row.get("difference"), "share"),
           el("small", interval(ci, "share")) if ci else None, class_="number",
           data_label="Difference"),
        el("td", drawn, class_="drawn on-zero"),
        el("td", light(sign)),
    )  # fmt: skip


def _sides(document: Fields, comparison: Fields) -> tuple[Html, Html]:
    sides = (("a", document["baseline"]), ("b", comparison["challenger"]))
    a, b = (
        join([el("b", side.upper(), class_=side), " ",
              el("span", strategy_name(strategy), class_="quiet")])
        for side, strategy in sides
    )  # fmt: skip
    return a, b


def _head(*heads: Content) -> Html:
    return el("thead", el("tr", *(el("th", head, scope="col") for head in heads)))


def _rounded(value: float | None) -> str:
    return UNKNOWN if value is None else number(value)
