"""The comparison as one HTML page that needs nothing else: no network, no second file.

The same document gives the same bytes, and whatever a sensor said is text, never markup.
"""

from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from echoic.web.environment import environment
from echoic.web.report import drawings, figures, flips, format
from evaluation.compare.document import Document
from evaluation.ope.verdicts import AGAINST

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " img-src data:"
)


def render(document: Document) -> str:
    """Render the comparison's document; the same document gives the same bytes."""
    template = templates().get_template("report/page.html")
    return template.render(document=document, days=_days(document)) + "\n"


@cache
def templates() -> Environment:
    """Return the templates of the page, with all that they may call."""
    filters = {**format.FILTERS, **figures.FILTERS, **flips.FILTERS, **drawings.FILTERS}
    names = {
        "policy": POLICY,
        "css": _inlined("page.css"),
        "script": _inlined("page.js"),
        "against": AGAINST,
        "kinds": format.KINDS,
        "statuses": flips.STATUSES,
        **figures.GLOBALS,
    }
    return environment(filters, names)


def _days(document: Document) -> tuple[str, ...]:
    """Return the first and last day of the sessions; one day if they are the same."""
    starts = sorted(each.started_at for each in document.sessions if each.started_at)
    ends = sorted(each.ended_at for each in document.sessions if each.ended_at)
    days = (format.moment(each)[:10] for each in (*starts[:1], *ends[-1:]))
    return tuple(dict.fromkeys(days))


def _inlined(name: str) -> Markup:
    # Our own files, so they go in unescaped.
    return Markup(files("echoic.web.report").joinpath(name).read_text("utf-8"))
