"""Small marks that stand in several places: lights, badges, what is said of a gap.

Its rule: a mark never speaks by colour alone; each has its word.
"""

from collections.abc import Iterable

from echoic.web.report.format import KINDS, Sign
from echoic.web.report.html_builder import Html, el


def light(sign: Sign) -> Html:
    """A verdict or a gate's status: symbol, word and tone."""
    return el(
        "span",
        el("span", sign.symbol, aria_hidden="true"),
        el("span", sign.words),
        class_=f"light {sign.tone}",
    )


def badge(kind: str) -> Html:
    """What sort of number this is."""
    return el("span", kind, class_=f"badge {kind}", title=KINDS.get(kind))


def kinds_legend(kinds: Iterable[str]) -> Html:
    """What the badges of a table mean."""
    seen = set(kinds)
    return el(
        "p",
        *(
            el("span", badge(kind), f" {meaning}")
            for kind, meaning in KINDS.items()
            if kind in seen
        ),
        class_="meanings quiet",
    )


def absent(title: str, why: str) -> Html:
    """A section for which there is nothing to show."""
    return el("section", el("h3", title), el("p", why, class_="quiet"), class_="card")
