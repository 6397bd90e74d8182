"""Settings: which source wins, what is allowed, and what an error says."""

from pathlib import Path

import pytest

from echoic.config.load import Settings, load, mind_settings, shown
from echoic.config.options import OPTIONS, OWN
from echoic.errors import SettingsError
from schemas.values.settings import MatchLimits

LIMITS = MatchLimits(match=0.5, duplicate=0.9, endorse=0.5)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The working folder, and the one of the person's own configuration."""
    here, home = tmp_path / "here", tmp_path / "config"
    here.mkdir()
    (home / "echoic").mkdir(parents=True)
    return here, home


def read(
    folders: tuple[Path, Path],
    flags: dict[str, object] | None = None,
    **environment: str,
) -> Settings:
    here, home = folders
    return load(
        flags, environment={"XDG_CONFIG_HOME": str(home)} | environment, folder=here
    )


def test_defaults_hold_where_nothing_is_said(folders: tuple[Path, Path]) -> None:
    """Without flags, variables and files every value is the default and says so."""
    settings = read(folders)

    assert (settings.agent, settings["strategy"]) == ("companion", "heuristic_first")
    assert settings["threshold"] == 0.7
    assert set(settings.origins.values()) == {"default"}


def test_the_stronger_source_wins(folders: tuple[Path, Path]) -> None:
    """A flag beats a variable, that beats ./echoic.toml, that beats the own file."""
    here, home = folders
    (home / "echoic" / "config.toml").write_text("threshold = 0.1\nseed = 'mine'\n")
    (here / "echoic.toml").write_text("threshold = 0.2\nrelevance = 0.25\n")

    only_files = read(folders)
    with_variable = read(folders, ECHOIC_THRESHOLD="0.3")
    with_flag = read(folders, {"threshold": "0.4"}, ECHOIC_THRESHOLD="0.3")

    assert (only_files["threshold"], only_files["relevance"]) == (0.2, 0.25)
    assert only_files["seed"] == "mine"
    assert only_files.origins["threshold"] == f"file {here / 'echoic.toml'}"
    assert with_variable["threshold"] == 0.3
    assert with_variable.origins["threshold"] == "variable ECHOIC_THRESHOLD"
    assert with_flag["threshold"] == 0.4
    assert with_flag.origins["threshold"] == "flag --threshold"


def test_a_flag_that_was_not_given_changes_nothing(folders: tuple[Path, Path]) -> None:
    """None stands for a flag that was left out."""
    assert read(folders, {"agent": None}, ECHOIC_AGENT="ada").agent == "ada"


def test_the_executive_variables_are_honoured(folders: tuple[Path, Path]) -> None:
    """The three EXECUTIVE_* variables set strategy, threshold and goals."""
    settings = read(
        folders,
        EXECUTIVE_DECISION_STRATEGY="always_llm",
        EXECUTIVE_HEURISTIC_THRESHOLD="0.55",
        EXECUTIVE_GOALS="stay alive; find diamonds;",
    )

    assert settings["strategy"] == "always_llm"
    assert settings["threshold"] == 0.55
    assert settings["goals"] == ("stay alive", "find diamonds")


def test_our_own_variable_beats_the_other_one(folders: tuple[Path, Path]) -> None:
    """ECHOIC_* wins over a variable of other origin for the same setting."""
    settings = read(folders, ECHOIC_GOALS="ours", EXECUTIVE_GOALS="theirs")

    assert settings["goals"] == ("ours",)


def test_addresses_come_from_the_usual_variables(folders: tuple[Path, Path]) -> None:
    """NATS_URL, DATABASE_URL and the OTLP endpoint point at services of one's own."""
    settings = read(
        folders,
        NATS_URL="nats://example:4222",
        DATABASE_URL="postgresql://example/echoic",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://example:4318",
    )

    assert settings.nats_url == "nats://example:4222"
    assert settings.database_url == "postgresql://example/echoic"
    assert settings.trace_endpoint == "http://example:4318"


def test_a_secret_comes_by_a_file(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Where the variable itself is not set; its origin is the file."""
    secret = tmp_path / "nats_url"
    secret.write_text("tls://ada:secret@a:4222,b:4222\n")

    settings = read(folders, NATS_URL_FILE=str(secret))
    both = read(folders, NATS_URL_FILE=str(secret), NATS_URL="nats://c:4222")

    assert settings.nats_url == "tls://ada:secret@a:4222,b:4222"
    assert settings.origins["nats.url"] == f"file {secret}"
    assert settings.ignored == ()
    assert both.nats_url == "nats://c:4222"


def test_a_secret_that_cannot_be_read_is_an_error(folders: tuple[Path, Path]) -> None:
    """It would be silently another broker otherwise; only secrets come by files."""
    with pytest.raises(SettingsError, match="NATS_URL_FILE names '/nowhere'"):
        read(folders, NATS_URL_FILE="/nowhere")

    (ignored,) = read(folders, ECHOIC_AGENT_FILE="/nowhere").ignored
    assert "ECHOIC_AGENT_FILE" in ignored


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("ECHOIC_THRESHOLD", "1.5", "a number from 0 to 1"),
        ("ECHOIC_THRESHOLD", "nan", "a number from 0 to 1"),
        ("ECHOIC_MODEL_CANDIDATES", "2.5", "a whole number from 0 to 5"),
        ("ECHOIC_MODEL_MAX_TOKENS", "0", "a whole number from 1 to 8000"),
        ("ECHOIC_TTL_S", "-1", "a number over 0"),
        ("ECHOIC_AGENT", "a.b", "A-Z a-z 0-9"),
        ("ECHOIC_AGENT", "_", "A-Z a-z 0-9"),
        ("ECHOIC_CHANNEL", "say.*", "A-Z a-z 0-9"),
        ("ECHOIC_LEARNING_PRESET", "fast", "one of default, seed"),
        ("ECHOIC_BIASES", "confidence_threshold", "numbers from -0.1 to 0.1 by name"),
        ("ECHOIC_BIASES", "confidence_threshold=0.11", "numbers from -0.1"),
        ("NATS_URL", "http://example", "starts with nats://"),
    ],
)
def test_an_error_names_place_value_and_what_is_allowed(
    folders: tuple[Path, Path], variable: str, value: str, allowed: str
) -> None:
    """A value outside its bounds stops the program and says how to mend it."""
    with pytest.raises(SettingsError) as caught:
        read(folders, None, **{variable: value})

    assert variable in caught.value.what
    assert repr(value) in caught.value.what
    assert allowed in caught.value.what
    assert caught.value.next_step


def test_a_wrong_value_in_a_file_names_the_file(folders: tuple[Path, Path]) -> None:
    """A file's values are checked by type, too: a list is no number."""
    here, _ = folders
    (here / "echoic.toml").write_text("threshold = [0.5]\n")

    with pytest.raises(SettingsError, match=r"echoic\.toml.*threshold = \[0\.5\]"):
        read(folders)


def test_an_unknown_setting_is_an_error_with_a_suggestion(
    folders: tuple[Path, Path],
) -> None:
    """A misspelt name in a file is never ignored."""
    here, _ = folders
    (here / "echoic.toml").write_text("[model]\nnam = 'x'\n")
    with pytest.raises(
        SettingsError, match=r"'model\.nam'.*did you mean 'model\.name'"
    ):
        read(folders)


def test_an_unknown_variable_is_ignored_and_told(folders: tuple[Path, Path]) -> None:
    """Another version's variable stops nothing; the settings say which one they skip."""
    settings = read(folders, ECHOIC_TRESHOLD="0.5", ECHOIC_AGENT="ada")

    assert (settings.agent, settings["threshold"]) == ("ada", 0.7)
    (told,) = settings.ignored
    assert "'ECHOIC_TRESHOLD': did you mean 'ECHOIC_THRESHOLD'?" in told


def test_a_broken_file_is_an_error(folders: tuple[Path, Path]) -> None:
    """A file that is no TOML is named, with the place."""
    here, _ = folders
    (here / "echoic.toml").write_text("threshold =\n")

    with pytest.raises(SettingsError, match=r"echoic\.toml cannot be read.*line 1"):
        read(folders)


def test_passwords_are_not_shown(folders: tuple[Path, Path]) -> None:
    """Whoever lists the settings sees the host of an address, not who logs in."""
    settings = read(folders, NATS_URL="nats://me:secret@example:4222")
    option = next(option for option in OPTIONS if option.name == "nats.url")

    assert shown(settings, option) == "nats://…@example:4222"


def test_every_option_of_the_program_has_its_field() -> None:
    """What can be set can be used, and the other way round."""
    ours = {"behaviour", "origins", "ignored", "withheld"}

    assert {option.field for option in OWN} == {*Settings.__dataclass_fields__} - ours


def test_settings_of_the_mind_carry_what_was_set(folders: tuple[Path, Path]) -> None:
    """What the log records is what the person set."""
    settings = read(
        folders,
        ECHOIC_MODEL_NAME="ollama/llama3.2",
        ECHOIC_MODEL_TEMPERATURE="0",
        ECHOIC_GOALS="stay alive",
        ECHOIC_BIASES="confidence_threshold=-0.1",
    )

    mind = mind_settings(settings, LIMITS)

    assert mind.model is not None
    assert (mind.model.name, mind.model.temperature) == ("ollama/llama3.2", 0.0)
    assert mind.goals == ("stay alive",)
    assert mind.biases == {"confidence_threshold": -0.1}
    assert mind.limits == LIMITS


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("openai/a, ollama/b", "chain:openai/a>ollama/b"),
        ("chain:openai/a>ollama/b", "chain:openai/a>ollama/b"),
        ("ollama/b", "ollama/b"),
        ("", None),
    ],
)
def test_several_models_are_a_chain(
    folders: tuple[Path, Path], given: str, name: str | None
) -> None:
    """Named as one; none is none."""
    model = mind_settings(read(folders, ECHOIC_MODEL_NAME=given), LIMITS).model

    assert (model.name if model else None) == name


@pytest.mark.parametrize("given", ["a,,b", "a,a", "a>b,c"])
def test_names_that_make_no_chain_are_refused(
    folders: tuple[Path, Path], given: str
) -> None:
    """With the setting's name."""
    with pytest.raises(SettingsError, match="ECHOIC_MODEL_NAME"):
        read(folders, ECHOIC_MODEL_NAME=given)


def test_the_seed_preset_counts_every_signal_whole(folders: tuple[Path, Path]) -> None:
    """learning.preset=seed sets every weight to 1."""
    mind = mind_settings(read(folders, ECHOIC_LEARNING_PRESET="seed"), LIMITS)

    weights = mind.learning.weights
    assert (weights.outcome, weights.explicit, weights.endorsement) == (1.0, 1.0, 1.0)


def test_keys_are_not_shown(folders: tuple[Path, Path]) -> None:
    """A model's key is never printed, not even in part; its address is."""
    environment = {
        "ECHOIC_MODEL_API_BASE": "http://127.0.0.1:8000/v1",
        "ECHOIC_MODEL_API_KEY": "sk-secret",
    }

    settings = load({}, environment=environment, folder=folders[0])

    by_name = {option.name: option for option in OPTIONS}
    assert shown(settings, by_name["model.api_base"]) == "http://127.0.0.1:8000/v1"
    assert shown(settings, by_name["model.api_key"]) == "…"
    assert "sk-secret" not in repr(settings)


def test_factors_by_origin_are_read_from_a_variable(tmp_path: Path) -> None:
    """They are no biases: any factor from a thousandth to a thousand is one."""
    given = {"ECHOIC_LEARNING_KAPPA_BY_ORIGIN": "skill_pack=4;learned=0.5"}
    found = load(environment=given, folder=tmp_path)

    assert found["learning.kappa_by_origin"] == {"skill_pack": 4.0, "learned": 0.5}
    for wrong in ("skill_pack=0", "pack=4", "learned"):
        with pytest.raises(SettingsError, match="factors from"):
            load(
                environment={"ECHOIC_LEARNING_KAPPA_BY_ORIGIN": wrong}, folder=tmp_path
            )
