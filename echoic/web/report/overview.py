"""Several challengers beside one another, each with its verdict.

Its rule: with several, a p is shown as Holm corrects it.
"""

from echoic.web.report.figures import Effect, around_zero, effect_bar, zero_axis
from echoic.web.report.format import (
    interval,
    number,
    signed,
    strategy_name,
    verdict_sign,
)
from echoic.web.report.html_builder import Content, Fields, Html, el
from echoic.web.report.marks import light
from echoic.web.report.svg import Scale
from echoic.web.report.verdict import effect_of


def overview(document: Fields) -> Html:
    """One line for each challenger, leading to its part."""
    comparisons = document["comparisons"]
    effects = [effect_of(each) for each in comparisons]
    scale = around_zero(effects)
    axis = zero_axis(scale)
    heads: tuple[Content, ...] = (
        "Challenger",
        "Verdict",
        "Difference",
        axis,
        "p, adjusted",
    )
    head = el("tr", *(el("th", each, scope="col") for each in heads))
    rows = (
        _row(each, effect, scale, f"#c{at}")
        for at, (each, effect) in enumerate(zip(comparisons, effects, strict=True))
    )
    return el(
        "section",
        el("h3", f"{len(comparisons)} challengers"),
        el(
            "table",
            el("thead", head),
            el("tbody", *rows),
            class_="numbers overview stacked",
        ),
        class_="card",
    )


def _row(comparison: Fields, effect: Effect, scale: Scale, href: str) -> Html:
    told = interval(effect.ci or effect.bounds, "share")
    adjusted = (comparison.get("holm") or {}).get("adjusted")
    return el(
        "tr",
        el("th", el("a", strategy_name(comparison["challenger"]), href=href), scope="row"),
        el("td", light(verdict_sign(comparison["verdict"]))),
        el("td", signed(effect.value, "share"), el("small", told), class_="number",
           data_label="Difference"),
        el("td", effect_bar(effect, scale), class_="drawn on-zero"),
        el("td", number(adjusted), class_="number", data_label="p, adjusted"),
    )  # fmt: skip
