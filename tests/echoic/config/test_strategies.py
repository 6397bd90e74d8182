"""Strategies as people give them: by text, by file, and what is said of mistakes."""

from pathlib import Path

import pytest

from echoic.config.load import Settings, load, mind_settings
from echoic.config.strategies import StrategyError, strategy_of
from schemas.values.settings import ExplorationSettings, StrategySpec
from tests.factories import LIMITS

URGENCY = """\
# Quicker when it matters.
strategy: urgency
parameters:
  threshold: 0.6
  reduction: 0.4
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A strategy's file."""
    return tmp_path / "quick.yaml"


def settings(folder: Path, **variables: str) -> Settings:
    """The settings of a folder without files, by these variables."""
    return load(environment={"XDG_CONFIG_HOME": str(folder)} | variables, folder=folder)


def complaint(file: Path, text: str) -> str:
    """What is said of a file, from its line on."""
    file.write_text(text)
    with pytest.raises(StrategyError) as error:
        strategy_of(str(file))
    assert error.value.exit_code == 2
    return str(error.value).removeprefix(f"{file}:")


def test_a_text_and_a_file_say_the_same(file: Path) -> None:
    """A name and what differs from its defaults."""
    file.write_text(URGENCY)
    spec = StrategySpec(name="urgency", parameters={"threshold": 0.6, "reduction": 0.4})

    assert strategy_of("urgency:threshold=0.6,reduction=0.4") == spec
    assert strategy_of(str(file)) == spec


def test_parameters_may_be_left_out(file: Path) -> None:
    """A name alone is a strategy; an empty mapping is no parameter."""
    file.write_text("strategy: thompson\nparameters:\n")

    assert strategy_of(str(file)) == StrategySpec(name="thompson")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "heuristic_frist",
            "there is no strategy 'heuristic_frist', there are always_llm,"
            " heuristic_first, hybrid, layers, random, silent, thompson, urgency;"
            " did you mean 'heuristic_first'?",
        ),
        ("urgency:treshold=1", "has no parameter 'treshold', it has"),
        ("urgency:reduction=2", "parameter 'reduction': Input should be less than"),
        ("urgency:reduction", "'reduction' is no parameter for 'urgency'"),
    ],
)
def test_a_text_that_names_none_is_an_error(text: str, says: str) -> None:
    """The place it stands at comes first, then what is known, then the nearest."""
    with pytest.raises(StrategyError) as error:
        strategy_of(text, "variable ECHOIC_STRATEGY")

    assert str(error.value).startswith("variable ECHOIC_STRATEGY: ")
    assert says in str(error.value)
    assert error.value.next_step == "echoic strategy list"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("strategy: urgncy\n", "1:1: there is no strategy 'urgncy'"),
        (URGENCY.replace("0.6", "6"), "4:3: strategy 'urgency', parameter 'confid"),
        (URGENCY.replace("reduction", "deduction"), "5:3: strategy 'urgency' has no"),
        ("strategy: [a]\n", "1:1: write `strategy: name`"),
        ("- a\n", "1:1: write `strategy: name`"),
        ("strategy: silent\nparams: {}\n", "2:1: 'params' is neither"),
        ("strategy: silent\nstrategy: random\n", "2:1: 'strategy' stands twice"),
        ("strategy: silent\nparameters: 3\n", "2:1: parameters: "),
        ("strategy: ''\n", "1:1: strategy: "),
        ("strategy: [\n", "2:1: is no YAML"),
        ("", "1:1: is empty"),
    ],
)
def test_a_file_that_names_none_is_an_error(file: Path, text: str, says: str) -> None:
    """Line and column come first."""
    assert complaint(file, text).startswith(says)


def test_a_file_that_is_missing_is_named() -> None:
    """Whatever ends in .yaml is a path."""
    with pytest.raises(StrategyError, match=r"nowhere\.yaml:1:1: cannot be read"):
        strategy_of("nowhere.yaml")


def test_the_setting_takes_parameters(tmp_path: Path) -> None:
    """What the mind starts with has them."""
    given = settings(tmp_path, ECHOIC_STRATEGY="urgency:reduction=0.2")

    mind = mind_settings(given, LIMITS)

    assert mind.strategy == StrategySpec(name="urgency", parameters={"reduction": 0.2})
    assert mind.exploration is None


def test_a_challenger_is_all_it_takes_to_explore(tmp_path: Path) -> None:
    """Several are divided by semicolons; the rate has a default."""
    given = settings(
        tmp_path, ECHOIC_EXPLORATION_CHALLENGER="always_llm; urgency:reduction=0.5"
    )

    assert mind_settings(given, LIMITS).exploration == ExplorationSettings(
        scheme="challenger",
        rate=0.1,
        challengers=(
            StrategySpec(name="always_llm"),
            StrategySpec(name="urgency", parameters={"reduction": 0.5}),
        ),
    )


def test_uniform_exploration_needs_nobody(tmp_path: Path) -> None:
    """It has a scheme and a rate; challengers are left out of it."""
    given = settings(
        tmp_path,
        ECHOIC_EXPLORATION_SCHEME="uniform",
        ECHOIC_EXPLORATION_RATE="0.05",
        ECHOIC_EXPLORATION_CHALLENGER="always_llm",
    )

    assert mind_settings(given, LIMITS).exploration == ExplorationSettings(
        scheme="uniform", rate=0.05
    )


def test_a_file_without_an_end_is_refused(file: Path) -> None:
    """What contains itself, or nests without end, is told of with its place."""
    assert "nests too deep" in complaint(file, "strategy: &a [*a, *a]")
    assert "nests too deep" in complaint(file, "strategy: " + "[" * 100_000)


def test_exploration_can_be_switched_off(tmp_path: Path) -> None:
    """With a challenger named all the same."""
    given = settings(
        tmp_path,
        ECHOIC_EXPLORATION_SCHEME="none",
        ECHOIC_EXPLORATION_CHALLENGER="always_llm",
    )

    assert mind_settings(given, LIMITS).exploration is None


def test_challenger_exploration_needs_a_challenger(tmp_path: Path) -> None:
    """The error names the setting that is missing."""
    given = settings(tmp_path, ECHOIC_EXPLORATION_SCHEME="challenger")

    with pytest.raises(StrategyError, match="nobody to follow") as error:
        mind_settings(given, LIMITS)

    assert "exploration.challenger" in str(error.value.next_step)


def test_an_unknown_challenger_is_named_with_its_place(tmp_path: Path) -> None:
    """The variable that names it comes first."""
    given = settings(tmp_path, ECHOIC_EXPLORATION_CHALLENGER="always_lm")

    with pytest.raises(StrategyError, match="variable ECHOIC_EXPLORATION_CHALLENGER: "):
        mind_settings(given, LIMITS)


def test_prompts_may_stand_in_files(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a strategy's file, or where one is; what is recorded is their text."""
    folder = file.parent
    (folder / "me.txt").write_text("You are a parrot.\n")
    (folder / "how.txt").write_text("Of {answer}: what comes?")
    parameters = 'system_prompt: "@me.txt", prediction_prompt_template: "@how.txt"'
    file.write_text(f"strategy: always_llm\nparameters: {{{parameters}}}\n")
    monkeypatch.chdir(folder)

    told = {
        "system_prompt": "You are a parrot.",
        "prediction_prompt_template": "Of {answer}: what comes?",
    }
    assert strategy_of(str(file)).parameters == told
    assert strategy_of("always_llm:system_prompt=@me.txt").parameters == {
        "system_prompt": "You are a parrot."
    }


def test_a_prompts_file_that_cannot_be_read_is_named(file: Path) -> None:
    """With the place of the parameter; a template must say where the answer goes."""
    head = "strategy: always_llm\nparameters: "
    none = complaint(file, head + '{system_prompt: "@none.txt"}')
    answer = complaint(file, head + "{prediction_prompt_template: What comes?}")
    with pytest.raises(StrategyError, match="cannot be read: no such file"):
        strategy_of("always_llm:system_prompt=@/no/such/file")

    assert none == "2:14: 'none.txt' cannot be read: no such file or directory"
    assert "needs {answer}" in answer


def test_a_strangers_strategy_names_no_file_outside_of_its_folder(
    tmp_path: Path,
) -> None:
    """What it names goes to a model; what a person types may name any file."""
    (tmp_path / "secret.txt").write_text("my key")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "link.txt").symlink_to(tmp_path / "secret.txt")
    file = theirs / "quick.yaml"

    for named in ("@../secret.txt", f"@{tmp_path}/secret.txt", "@link.txt"):
        file.write_text(
            f'strategy: always_llm\nparameters: {{system_prompt: "{named}"}}'
        )
        with pytest.raises(StrategyError, match="lies outside of the folder"):
            strategy_of(str(file))
    typed = strategy_of(f"always_llm:system_prompt=@{tmp_path}/secret.txt")

    assert typed.parameters == {"system_prompt": "my key"}
