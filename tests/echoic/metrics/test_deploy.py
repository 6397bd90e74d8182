"""Alert rules and dashboard of `deploy/`: of metrics that exist, in PromQL that reads."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from echoic.config.options import OPTIONS
from echoic.metrics.catalogue import METRICS, PROCESS, PROCESSES
from echoic.terminal.commands import COMMANDS

DEPLOY = Path(__file__).parents[3] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "dashboard.json"

PROMTOOL = shutil.which("promtool")

FUNCTIONS = {
    "rate", "increase", "sum", "max", "min", "count", "histogram_quantile",
    "predict_linear",
}  # fmt: skip
WORDS = {"by", "unless", "or", "and", "on", "offset"}
SERIES = {
    name: each
    for each in METRICS
    for name in (
        [f"{each.name}_{end}" for end in ("bucket", "count", "sum")]
        if each.kind == "histogram"
        else [each.name]
    )
}
TOKEN = re.compile(
    r'\s+|"[^"]*"|\$__rate_interval|\$instance|[a-zA-Z_]\w*|\d+(?:\.\d+)?(?:e\d+)?'
    r"|=~|!=|[<>=]=?|[-+*/(){}\[\],]"
)
PAIRS = {")": "(", "}": "{", "]": "["}


def _yaml(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text())


def _rules() -> list[dict[str, Any]]:
    return [rule for group in _yaml(ALERTS)["groups"] for rule in group["rules"]]


def _panels() -> list[dict[str, Any]]:
    return [
        each
        for each in json.loads(DASHBOARD.read_text())["panels"]
        if each["type"] != "row"
    ]


def _expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in _rules())
    for panel in _panels():
        yield from (target["expr"] for target in panel["targets"])


def complaints(expression: str) -> list[str]:
    """What is wrong with an expression, as far as a look at its tokens shows."""
    wrong: list[str] = []
    found = [match.group() for match in TOKEN.finditer(expression)]
    if "".join(found) != expression:
        wrong.append("holds what is no PromQL")
    tokens = [each for each in found if each.strip()]
    open_: list[str] = []
    for token in tokens:
        if token in PAIRS.values():
            open_.append(token)
        elif token in PAIRS and (not open_ or open_.pop() != PAIRS[token]):
            wrong.append(f"an odd {token}")
    wrong += [f"{each} is not closed" for each in open_]
    # Without selectors, ranges and groupings only functions and metrics are left.
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)|\"[^\"]*\"", " ", expression)
    for name in re.findall(r"\b[a-z_]\w*\b", bare):
        if name not in FUNCTIONS | WORDS | {"up"} | SERIES.keys():
            wrong.append(f"there is no {name}")
    for name, selector in re.findall(r"\b(\w+)\{([^}]*)\}", expression):
        wrong += _selected(name, selector)
    counted = re.findall(r"(rate|increase)\((\w+)", expression)
    for function, name in counted:
        if name in SERIES and SERIES[name].kind == "gauge":
            wrong.append(f"{function} of the gauge {name}")
    return wrong


def _selected(name: str, selector: str) -> Iterator[str]:
    metric = SERIES.get(name)
    for label, value in re.findall(r'(\w+)(?:=~|!=|=)"([^"]*)"', selector):
        if label in ("instance", "job") or metric is None:
            continue
        allowed = PROCESSES if label == PROCESS else metric.labels.get(label)
        if allowed is None:
            yield f"{name} has no label {label}"
        elif value not in allowed:
            yield f"{label} of {name} is never {value}"


@pytest.mark.parametrize("expression", sorted(set(_expressions())))
def test_every_expression_reads_and_names_what_exists(expression: str) -> None:
    """Metrics, their labels and the values of these are those of the catalogue."""
    assert complaints(expression) == []


@pytest.mark.parametrize(
    "expression",
    [
        "rate(echoic_inputs_totals[5m])",
        "rate(echoic_inputs_total[5m]",
        'echoic_inputs_total{agent="mia"}',
        'echoic_inputs_total{kind="sensors"}',
        "rate(echoic_agents[5m])",
        "averag(echoic_agents)",
        "echoic_agents; drop",
    ],
)
def test_the_check_finds_mistakes(expression: str) -> None:
    """A misspelt metric, label, value or function, an open bracket, a rate of a gauge."""
    assert complaints(expression)


def test_every_alert_says_what_to_do_with_commands_that_exist() -> None:
    """Name, duration, severity, summary, and a runbook whose commands and settings are."""
    names = [rule["alert"] for rule in _rules()]
    assert len(names) == len(set(names)) >= 8
    options = {option.name for option in OPTIONS}
    for rule in _rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"Echoic[A-Za-z]+", rule["alert"])
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "0s"))
        assert rule["labels"]["severity"] in ("page", "ticket")
        notes = rule["annotations"]
        assert set(notes) == {"summary", "runbook"}
        for command in re.findall(r"`echoic (\w+)", notes["runbook"]):
            assert command in COMMANDS
        for name in re.findall(r"Echoic[A-Z]\w+", notes["runbook"]):
            assert name in names
        for table in ("model", "worker", "intake", "metrics"):
            for name in re.findall(rf"\b{table}\.\w+", notes["runbook"]):
                assert name in options


@pytest.mark.skipif(PROMTOOL is None, reason="Prometheus' own tool is not installed")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", DEPLOY / "prometheus" / "prometheus.yml"),
        ("test", "rules", Path(__file__).with_name("alerts_test.yml")),
    ],
)
def test_prometheus_itself_reads_them(arguments: tuple[str | Path, ...]) -> None:
    """Each alert fires for an instance with its trouble, and none for one without."""
    assert PROMTOOL is not None
    ran = subprocess.run(
        [PROMTOOL, *arguments], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_prometheus_reads_our_port_and_these_rules() -> None:
    """The default of `metrics.listen`, and the file beside the configuration."""
    found = _yaml(DEPLOY / "prometheus" / "prometheus.yml")
    listen = next(each for each in OPTIONS if each.name == "metrics.listen").default

    (job,) = found["scrape_configs"]
    assert job["static_configs"] == [{"targets": [listen]}]
    assert [ALERTS.parent / each for each in found["rule_files"]] == [ALERTS]


def test_the_dashboard_is_whole() -> None:
    """Ids are unique, panels do not overlap, each says what it shows, and where from."""
    board = json.loads(DASHBOARD.read_text())
    every = board["panels"]
    assert board["uid"] == "echoic"
    assert len({each["id"] for each in every}) == len(every)
    taken: set[tuple[int, int]] = set()
    for each in every:
        place = each["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y)
            for x in range(place["w"])
            for y in range(place["h"])
        }
        assert not cells & taken, each["title"]
        taken |= cells
    (source,) = _yaml(DEPLOY / "grafana/provisioning/datasources/prometheus.yml")[
        "datasources"
    ]
    for panel in _panels():
        assert panel["description"].endswith(".")
        assert panel["datasource"]["uid"] == source["uid"]


def test_every_metric_is_shown_or_watched() -> None:
    """One that nobody looks at need not be there."""
    used = set(re.findall(r"echoic_\w+", " ".join(_expressions())))

    assert {name for name, each in SERIES.items() if name in used} == used
    assert {each.name for each in METRICS} <= {SERIES[name].name for name in used}
