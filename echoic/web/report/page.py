"""The page: its head, one part for each challenger, and where it all comes from.

Its rule: one file that asks nobody for anything. It loads no script, style, letter or
picture from elsewhere, and its policy forbids it.
"""

from collections.abc import Sequence
from importlib.resources import files

from echoic.web.report import behaviour, flips, numbers, overview, provenance, verdict
from echoic.web.report.format import counted, moment, strategy_name, verdict_sign
from echoic.web.report.html_builder import Content, Fields, Html, brief, el, join

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " img-src data:"
)

_PARTS = ("Verdict", "Numbers", "Flips", "Behaviour", "Learning", "Sessions")


def render(document: Fields) -> str:
    """The comparison's document as a page; the same document gives the same bytes."""
    page = el(
        "html",
        el("head", *_head(document)),
        el(
            "body",
            *_body(document),
            class_="stub" if document.get("watermark") else None,
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def _head(document: Fields) -> tuple[Html, ...]:
    return (
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", _title(document)),
        el("link", rel="icon", href="data:,"),
        el("style", _inlined("page.css")),
    )


def _body(document: Fields) -> tuple[Content, ...]:
    comparisons = document["comparisons"]
    return (
        el("a", "To the verdict", href="#c0", class_="skip"),
        _watermark(document),
        _masthead(document),
        el(
            "main",
            overview.overview(document) if len(comparisons) > 1 else None,
            *(_comparison(document, each, at) for at, each in enumerate(comparisons)),
            el(
                "article",
                el("h2", "Provenance", class_="part"),
                provenance.outcomes(document),
                provenance.session_outcomes(document),
                provenance.strategies(document),
                provenance.provenance(document),
                id="provenance",
            ),
        ),
        el("footer", "Made by echoic ", str(document.get("echoic", "")),
           ". Nothing in this page is loaded from elsewhere.", class_="quiet"),
        el("script", _inlined("page.js")),
    )  # fmt: skip


def _title(document: Fields) -> str:
    challengers = ", ".join(
        strategy_name(each["challenger"]) for each in document["comparisons"]
    )
    words = verdict_sign(document["verdict"]).words
    return f"{words}: {strategy_name(document['baseline'])} → {challengers}"


def _masthead(document: Fields) -> Html:
    sessions = document.get("sessions") or ()
    challengers = join(
        [el("span", strategy_name(each["challenger"]), class_="b")
         for each in document["comparisons"]],
        ", ",
    )  # fmt: skip
    return el(
        "header",
        el("p", el("span", "echoic"), " comparison", class_="wordmark"),
        el("button", "◐", type="button", class_="theme", aria_label="Light or dark",
           title="Light or dark"),
        el("h1", el("span", strategy_name(document["baseline"]), class_="a"),
           el("span", " → ", class_="quiet"), challengers),
        el("p", counted(len(sessions), "session"), _days(sessions), class_="quiet"),
        el("nav", *_links(document), aria_label="Parts"),
    )  # fmt: skip


def _days(sessions: Sequence[Fields]) -> str:
    """From which day to which they were recorded."""
    starts = sorted(each["started_at"] for each in sessions if each.get("started_at"))
    ends = sorted(each["ended_at"] for each in sessions if each.get("ended_at"))
    days = dict.fromkeys(moment(each)[:10] for each in (*starts[:1], *ends[-1:]))
    return f", {' to '.join(days)}" if days else ""


def _links(document: Fields) -> list[Html]:
    """To the parts of the only challenger, or to each of several."""
    comparisons = document["comparisons"]
    links = [el("a", part, href=f"#c0-{part.lower()}") for part in _PARTS]
    if len(comparisons) > 1:
        links = [
            el("a", strategy_name(each["challenger"]), href=f"#c{at}")
            for at, each in enumerate(comparisons)
        ]
    return [*links, el("a", "Provenance", href="#provenance")]


def _watermark(document: Fields) -> Content:
    words = document.get("watermark")
    if not words:
        return None
    return join([
        el("p", "⚠ ", brief(words), class_="watermark-note", role="note"),
        el("div", *(el("span", brief(words, 60)) for _ in range(12)),
           class_="watermark", aria_hidden="true"),
    ])  # fmt: skip


def _comparison(document: Fields, comparison: Fields, at: int) -> Html:
    key = f"c{at}"
    several = len(document["comparisons"]) > 1
    name = strategy_name(comparison["challenger"])
    parts: dict[str, tuple[Content, ...]] = {
        "Verdict": (
            verdict.card(document, comparison),
            verdict.checks(document, comparison),
        ),
        "Numbers": (
            numbers.headline(document, comparison),
            numbers.facts(document, comparison),
            numbers.sensitivity(comparison),
        ),
        "Flips": (flips.section(comparison, key),),
        "Behaviour": (
            numbers.breakdown(comparison),
            behaviour.tradeoff(comparison),
            behaviour.weights(comparison),
            behaviour.cassette(comparison),
        ),
        "Learning": (behaviour.calibration(comparison), behaviour.curves(comparison)),
        "Sessions": (behaviour.timeline(comparison),),
    }
    return el(
        "article",
        el("h2", name, class_="part challenger b") if several else None,
        *(_part(key, title, content) for title, content in parts.items()),
        id=key,
    )


def _part(key: str, title: str, content: tuple[Content, ...]) -> Html:
    heading = None if title == "Verdict" else el("h2", title, class_="part")
    return el("div", heading, *content, id=f"{key}-{title.lower()}")


def _inlined(name: str) -> Html:
    return Html(files("echoic.web.report").joinpath(name).read_text("utf-8"))
