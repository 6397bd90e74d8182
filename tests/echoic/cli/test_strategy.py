"""`echoic strategy`, and the example that the documentation gives of one's own."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handlers.mind.strategies import plugin
from handlers.mind.strategies.registry import (
    STRATEGIES,
    UnknownStrategyError,
    create_decision_strategy,
)
from schemas.messages.asks import ModelAsked
from schemas.values.settings import UNSTARTED, StrategySpec
from tests.echoic.cli.conftest import Program
from tests.factories import MODEL, heuristic, pack
from tests.scenario import Scenario, one

PAGE = (Path(__file__).parents[3] / "docs" / "strategies.md").read_text()


def example(name: str) -> str:
    """The block of the page that begins with this file's name."""
    found = re.search(rf"```\w+\n(# {re.escape(name)}\n.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def listed() -> Iterator[Callable[[str], None]]:
    """What lists a module, until the test ends."""
    yield lambda name: plugin.allow([name])
    plugin.allow(())


def test_the_list_names_every_strategy(echoic: Program) -> None:
    """One line each: its name and what it does."""
    ran = echoic.here("strategy", "list")

    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == list(STRATEGIES)
    rows = json.loads(echoic.here("strategy", "list", "--json").out)["rows"]
    assert [row["strategy"] for row in rows] == list(STRATEGIES)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_parameter_has_a_meaning(echoic: Program, name: str) -> None:
    """What a strategy can be told is shown with its value, and explained."""
    shown = json.loads(echoic.here("strategy", "show", name, "--json").out)

    assert shown["does"]
    for parameter in shown["parameters"]:
        assert parameter["meaning"], parameter
        assert parameter["value"] == parameter["default"]


def test_a_strategy_is_shown_as_it_would_be_in_force(echoic: Program) -> None:
    """Parameters go before settings, settings before defaults."""
    ran = echoic.here(
        "strategy", "show", "urgency:reduction=0.4", ECHOIC_THRESHOLD="0.55"
    )

    assert re.search(r"^confidence_threshold or threshold +0\.55 ", ran.out, re.M)
    assert re.search(r"^reduction +0\.4 \(else 0\.3\) ", ran.out, re.M)
    assert re.search(r"^soon_from +0\.3 +The urgency", ran.out, re.M)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("urgncy", "did you mean 'urgency'?"),
        ("urgency:redction=1", "did you mean 'reduction'?"),
        ("nowhere.yaml", "nowhere.yaml:1:1: cannot be read"),
    ],
)
def test_an_unknown_strategy_is_exit_code_2(
    echoic: Program, given: str, says: str
) -> None:
    """With what there is and the next command."""
    ran = echoic.here("strategy", "show", given)

    assert ran.code == 2
    assert says in ran.err
    assert "echoic strategy list" in ran.err


def test_a_module_that_is_not_listed_is_exit_code_2(echoic: Program) -> None:
    """With the line that lists it."""
    ran = echoic.here("strategy", "show", "nowhere:make")

    assert ran.code == 2
    assert "the module 'nowhere' is not listed here" in ran.err
    assert 'strategies.modules = ["module"]' in ran.err


def test_the_yaml_of_the_page_is_a_strategy(echoic: Program) -> None:
    """It is read from the folder that one is in."""
    (echoic.folder / "quick.yaml").write_text(example("quick.yaml"))

    shown = json.loads(echoic.here("strategy", "show", "quick.yaml", "--json").out)

    values = {each["parameter"]: each["value"] for each in shown["parameters"]}
    assert (values["confidence_threshold"], values["reduction"]) == (0.6, 0.4)


def test_the_settings_of_the_page_are_allowed(echoic: Program) -> None:
    """The file for exploration is read without complaint."""
    (echoic.folder / "echoic.toml").write_text(example("echoic.toml"))
    echoic.here("config", "trust")

    shown = json.loads(echoic.here("config", "show", "--json").out)["settings"]

    assert shown["exploration.challenger"] == ["urgency:reduction=0.4"]
    assert shown["exploration.rate"] == 0.2


def test_the_strategy_of_the_page_is_found_where_one_is(echoic: Program) -> None:
    """The program looks for modules in the folder it was started in."""
    (echoic.folder / "cautious.py").write_text(example("cautious.py"))
    (echoic.folder / "echoic.toml").write_text(example("own.toml"))
    echoic.here("config", "trust")

    ran = echoic("strategy", "show", "cautious:make:matches=3")

    assert ran.code == 0, ran.err
    assert ran.out.startswith("cautious:make, version 1\n\nSpeak only where several")
    assert re.search(r"^matches +3$", ran.out, re.M)


def test_the_strategy_of_the_page_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: Callable[[str], None]
) -> None:
    """With one match it has nothing to say, with two the better one answers."""
    (tmp_path / "cautious.py").write_text(example("cautious.py"))
    monkeypatch.syspath_prepend(tmp_path)
    listed("cautious")
    garden = pack(
        heuristic("dry", "the plants look dry", "Water them."),
        heuristic("old", "the plants look dry and old", "Cut them."),
        heuristic("cat", "a cat sits outside", "Let it in."),
    )
    scenario = Scenario(
        garden,
        strategy=StrategySpec(name="cautious:make"),
        strategy_modules=("cautious",),
    )

    assert scenario.decide("the plants look dry").text == "Water them."
    assert scenario.decide("a cat sits outside").silence == "no_candidate"


def test_the_awaiting_strategy_of_the_page_asks_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: Callable[[str], None]
) -> None:
    """Unwrapped it would be refused, by its name."""
    source = example("kind.py")
    (tmp_path / "kind.py").write_text(source)
    (tmp_path / "unkind.py").write_text(source.replace("awaiting(Kind())", "Kind()"))
    monkeypatch.syspath_prepend(tmp_path)
    listed("kind")
    scenario = Scenario(
        model=MODEL, strategy=StrategySpec(name="kind:make"), strategy_modules=("kind",)
    )

    asked = one(scenario.sense("It rains", salience={"threat": 0.9}), ModelAsked)

    assert (asked.system, asked.prompt) == ("You are kind.", "It rains")
    listed("unkind")
    with pytest.raises(UnknownStrategyError, match=r"Kind\.decide is async"):
        create_decision_strategy(StrategySpec(name="unkind:make"), UNSTARTED)
