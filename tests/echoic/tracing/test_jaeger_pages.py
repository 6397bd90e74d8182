"""The settings of Jaeger's pages speak of attributes that the spans have."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from ruamel.yaml import YAML

from echoic.tracing import conventions

FOLDER = Path(__file__).parents[3] / "deploy" / "jaeger"
PAGES = json.loads((FOLDER / "ui.json").read_text(encoding="utf-8"))
OURS = {value for value in vars(conventions).values() if isinstance(value, str)}


@pytest.mark.parametrize("link", PAGES["linkPatterns"], ids=lambda link: link["key"])
def test_a_link_searches_for_its_attribute(link: dict[str, str]) -> None:
    """It is placed on an attribute of ours, and finds spans of ours with the same value.

    That of a heuristic stands on its name, which a decision without one has not: its id is
    `none` there, and a link would lead to all others without one.
    """
    query = parse_qs(urlsplit(link["url"].replace("#", "")).query)
    searched = link["key"].replace("heuristic.name", "heuristic.id")

    assert {link["key"], searched} <= OURS
    assert query["service"] == [conventions.ENGINE]
    assert json.loads(query["tags"][0]) == {searched: f"{{{searched}}}"}
    assert set(re.findall(r"#\{(.+?)\}", link["url"])) == {searched}


def test_what_is_shown_first_exists() -> None:
    """No prefix of the attributes on top is one that no attribute begins with."""
    for prefix in PAGES["topTagPrefixes"]:
        assert any(name.startswith(prefix) for name in OURS), prefix


def test_the_collector_listens_where_echoic_sends_to() -> None:
    """Without any setting the two meet on this machine, and nobody else is let in."""
    config = YAML(typ="safe").load(FOLDER / "config.yaml")
    http = config["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    pipeline = config["service"]["pipelines"]["traces"]

    assert http == "${env:JAEGER_LISTEN_HOST:-localhost}:4318"
    assert pipeline["exporters"] == list(config["exporters"])
    assert pipeline["processors"] == list(config["processors"])
    assert set(config["service"]["extensions"]) == set(config["extensions"])
