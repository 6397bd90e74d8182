"""A day of characters as one HTML page that needs nothing else: no network, no second file.

The same recordings give the same bytes, and whatever was said is text, never markup.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from echoic.scene.figures import marked
from echoic.scene.shares import Shares
from echoic.web.environment import environment


def render(
    reel: Mapping[str, Any], shares: Mapping[str, Shares], title: str, version: str
) -> str:
    """Render the page of a reel; `shares` says by whom each character's layers decided."""
    names = [each["name"] for each in reel["who"]]
    template = templates().get_template("film/page.html")
    layers = {layer for each in shares.values() for layer in each.layers}
    page = template.render(
        reel=reel,
        marks=marked(names),
        shares=shares,
        layers=sorted(layers),
        title=title,
        version=version,
    )
    return page + "\n"


@cache
def templates() -> Environment:
    """Return the templates of the page, with all that they may call."""
    css, script = _inlined("page.css"), _inlined("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    return environment({}, {"policy": policy, "css": css, "script": script})


def _hash(content: str) -> str:
    """Return the source expression that lets this very text run, and no other."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _inlined(name: str) -> Markup:
    # Our own files, so they go in unescaped.
    return Markup(files("echoic.web.film").joinpath(name).read_text("utf-8"))
