"""What a strategy costs for what it gives, what it learns, and how sessions went.

Its rule: a drawing without data is left out, and the page says why.
"""

from echoic.web.report import charts
from echoic.web.report import timeline as lanes
from echoic.web.report.figures import against_chance
from echoic.web.report.format import counted, number, percent, short_id, signed
from echoic.web.report.html_builder import Content, Fields, Html, brief, el
from echoic.web.report.marks import absent

_OPEN_SESSIONS = 4
_OPEN_CURVES = 12
_DRAWN_CURVES = 60
"""The document has all; here are those that moved most often."""


def tradeoff(comparison: Fields) -> Html:
    """Cost and latency against success."""
    points = comparison.get("tradeoff") or ()
    charted = [
        charts.tradeoff(points, measure, title, unit)
        for measure, title, unit in (
            ("cost_usd", "Model cost", "USD"),
            ("latency_ms", "Latency", "ms"),
        )
        if any(point.get(measure) is not None for point in points)
    ]
    if not charted:
        return absent("Cost, latency, success", "Neither cost nor latency is known.")
    note = None
    if any(point.get("success") is None for point in points):
        note = el("p", "A hollow point at the foot: its success is not estimated.",
                  class_="quiet")  # fmt: skip
    return el(
        "section",
        el("h3", "Cost, latency, success"),
        el("div", *charted, class_="pair"),
        note,
        class_="card",
    )


def calibration(comparison: Fields) -> Html:
    """Whether predicted success is what was observed."""
    found = comparison.get("calibration")
    if not found:
        return absent("Calibration", "No prediction met a known outcome.")
    figures = (("Brier score", number(found.get("brier"))),
               ("Skill over the base rate", signed(found.get("skill"))))  # fmt: skip
    return el(
        "section",
        el("h3", "Calibration"),
        el(
            "div",
            charts.reliability(found.get("bins") or ()),
            el(
                "div",
                el("dl", *(el("div", el("dt", name), el("dd", value))
                           for name, value in figures), class_="figures"),
                _expected_error(found),
                el("p", "Pale bars: where a perfectly calibrated mind would lie in 19 of"
                        " 20 cases.", class_="quiet"),
            ),
            class_="pair",
        ),
        class_="card",
    )  # fmt: skip


def curves(comparison: Fields) -> Html:
    """How each heuristic's confidence went, in either life."""
    found = sorted(comparison.get("curves") or (), key=_moved, reverse=True)
    if not found:
        return absent("Confidence", "No heuristic's confidence moved.")
    sessions = len({curve.get("session") for curve in found})
    figures = [
        el(
            "figure",
            el(
                "figcaption",
                brief(short_id(curve.get("name") or curve["heuristic"])),
                el("small", f" {brief(curve['session'])}")
                if sessions > 1 and curve.get("session")
                else None,
            ),
            charts.confidence(curve),
            title=brief(curve["heuristic"]),
        )
        for curve in found[:_DRAWN_CURVES]
    ]
    sides = (el("b", "A", class_="a"), " as recorded, ", el("b", "B", class_="b"),
             " as it would have learnt; from update to update, 0 to 1.")  # fmt: skip
    return el(
        "section",
        el("h3", "Confidence"),
        el("p", *sides, class_="quiet"),
        el("div", *figures[:_OPEN_CURVES], class_="small-multiples"),
        _more(figures[_OPEN_CURVES:], "more curve", "small-multiples"),
        class_="card",
    )


def timeline(comparison: Fields) -> Html:
    """Each session's two lanes."""
    found = comparison.get("timeline") or ()
    if not found:
        return absent("Sessions, side by side", "No session has a timeline.")
    figures = [lanes.session(each) for each in found]
    return el(
        "section",
        el("h3", "Sessions, side by side"),
        lanes.legend(found),
        *figures[:_OPEN_SESSIONS],
        _more(figures[_OPEN_SESSIONS:], "more session", "sessions"),
        class_="card",
    )


def weights(comparison: Fields) -> Html:
    """How much the estimate rests on few decisions."""
    found = comparison.get("weights") or {}
    bars = found.get("histogram") or ()
    if not bars:
        return absent("Weights", "Nothing was weighted: no value was estimated.")
    top = el(
        "table",
        el("thead", el("tr", el("th", "Heaviest decisions", scope="col"),
                       el("th", "Weight", scope="col"))),
        el("tbody", *(
            el("tr", el("th", brief(each["decision"]), scope="row", class_="machine"),
               el("td", number(each["weight"]), class_="number"))
            for each in found.get("top") or ()
        )),
    )  # fmt: skip
    return el(
        "section",
        el("h3", "Weights"),
        el("div", charts.weights(bars), top, class_="pair"),
        class_="card",
    )


def cassette(comparison: Fields) -> Content:
    """Whether the recording held the model's answers that were needed."""
    found = comparison.get("cassette")
    if not found or not (found.get("hits") or found.get("misses")):
        return None
    asked = counted(found["hits"] + found["misses"], "question")
    told = (
        f"The model's answers came from the recording: of {asked},"
        f" {percent(found.get('hit_rate'))} were there."
    )
    return el("p", told, class_="quiet cassette")


def _expected_error(found: Fields) -> Content:
    band, error = found.get("null_band"), found.get("ece")
    if not band or error is None:
        return None
    mean, limit = band
    within = "within" if error <= limit else "beyond"
    return el(
        "div",
        el("p", f"Calibration error {number(error)}, {within} what chance alone gives",
           el("small", f"chance: {number(mean)} on average, up to {number(limit)}")),
        against_chance(error, mean, limit),
        class_="chance-line",
    )  # fmt: skip


def _moved(curve: Fields) -> int:
    return sum(len(curve.get(side) or ()) for side in ("baseline", "challenger"))


def _more(figures: list[Html], noun: str, class_: str) -> Content:
    if not figures:
        return None
    return el("details", el("summary", counted(len(figures), noun)),
              el("div", *figures, class_=class_))  # fmt: skip
