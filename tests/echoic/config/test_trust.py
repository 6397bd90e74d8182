"""A stranger's `echoic.toml` runs, loads, sends and opens nothing until it is trusted."""

import json
import os
from pathlib import Path

import pytest

from echoic.config import trust
from echoic.config.load import Settings, load
from echoic.config.option import Option
from echoic.config.options import OPTIONS
from echoic.errors import SettingsError

ANY_TEXT = (
    "sh run.sh",
    "module",
    "/etc/hostname",
    "https://stranger.example",
    "nats://stranger.example",
    "postgresql://stranger.example",
    "0.0.0.0:1",
)
"""What runs, is loaded, is sent to or listened at, in each form that settings have."""

MARKED = tuple(option for option in OPTIONS if option.needs_trust)


def by_name(option: Option) -> str:
    """Name a case."""
    return option.name


def sample(option: Option) -> str:
    """A value that the option takes, and does not have by default."""
    for text in (*ANY_TEXT, "off", "on"):
        try:
            if option.parse(text) != option.default:
                return text
        except ValueError:
            continue
    raise AssertionError(f"no sample fits {option.name}")


class Folders:
    """A stranger's folder, and the home of the one who is in it."""

    def __init__(self, root: Path) -> None:
        self.here, self.home = root / "here", root / "config"
        self.here.mkdir()
        (self.home / "echoic").mkdir(parents=True)
        self.environment = {"XDG_CONFIG_HOME": str(self.home)}

    def write(self, text: str) -> None:
        (self.here / "echoic.toml").write_text(text)

    def trust(self) -> None:
        trust.trust(self.here, trust.content_of(self.here), self.environment)

    def read(
        self, flags: dict[str, object] | None = None, **environment: str
    ) -> Settings:
        return load(flags, environment=self.environment | environment, folder=self.here)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Both empty."""
    return Folders(tmp_path)


@pytest.mark.parametrize("option", OPTIONS, ids=by_name)
def test_whatever_takes_any_text_says_what_it_can_reach(option: Option) -> None:
    """A new setting of a program, file, address or port cannot be left unmarked."""
    taken = []
    for text in ANY_TEXT:
        try:
            option.parse(text)
        except ValueError:
            continue
        taken.append(text)

    assert not taken or option.reach is not None, f"declare its `reach`: takes {taken}"


@pytest.mark.parametrize(
    ("name", "reach"),
    [
        ("speech.command", "runs"),
        ("strategies.modules", "runs"),
        ("webhook.url", "sends"),
        ("webhook.secret", "sends"),
        ("model.name", "sends"),
        ("model.api_base", "sends"),
        ("model.api_key", "sends"),
        ("trace.endpoint", "sends"),
        ("trace.content", "sends"),
        ("nats.url", "sends"),
        ("database.url", "sends"),
        ("nats.ca", "loads"),
        ("data", "loads"),
        ("packs", "loads"),
        ("pack_folder", "loads"),
        ("embedder_files", "loads"),
        ("strategy", "loads"),
        ("exploration.challenger", "loads"),
        ("metrics.listen", "listens"),
        ("nats.mqtt", "listens"),
        ("nats.websocket", "listens"),
        ("nats.origins", "listens"),
        ("goals", "nothing"),
        ("agent", "nothing"),
        ("base_prompt", "nothing"),
    ],
)
def test_what_settings_reach(name: str, reach: str) -> None:
    """By what each does with its value."""
    assert next(each.reach for each in OPTIONS if each.name == name) == reach


@pytest.mark.parametrize("option", MARKED, ids=by_name)
def test_it_counts_from_a_folder_that_is_trusted_alone(
    folders: Folders, option: Option
) -> None:
    """Before, a notice names it and the next command; the rest of the file counts."""
    value = sample(option)
    folders.write(f'"{option.name}" = "{value}"\nrelevance = 0.25\n')
    if option.default == () or isinstance(option.default, tuple):
        folders.write(f'"{option.name}" = ["{value}"]\nrelevance = 0.25\n')

    stranger = folders.read()
    folders.trust()
    friend = folders.read()

    assert stranger.origins[option.name] == "default"
    assert stranger["relevance"] == friend["relevance"] == 0.25
    assert option.name in (stranger.withheld or "")
    assert "echoic config trust" in (stranger.withheld or "")
    assert friend.origins[option.name] == f"file {folders.here / 'echoic.toml'}"
    assert friend.withheld is None


def test_a_file_that_changes_is_asked_about_again(folders: Folders) -> None:
    """Trust is in what was read, not in what somebody puts there later."""
    folders.write("speech.command = 'say'\n")
    folders.trust()
    folders.write("speech.command = 'sh pwn.sh'\n")

    settings = folders.read()

    assert settings.speech_command is None
    assert "has changed since it was trusted" in (settings.withheld or "")


def test_a_copy_elsewhere_is_not_trusted_and_a_link_is(
    folders: Folders, tmp_path: Path
) -> None:
    """The real path counts."""
    folders.write("speech.command = 'say'\n")
    folders.trust()
    copy, link = tmp_path / "copy", tmp_path / "link"
    copy.mkdir()
    (copy / "echoic.toml").write_bytes((folders.here / "echoic.toml").read_bytes())
    link.symlink_to(folders.here)

    at_copy = load(environment=folders.environment, folder=copy)
    at_link = load(environment=folders.environment, folder=link)

    assert (at_copy.speech_command, at_link.speech_command) == (None, "say")


def test_ones_own_file_variables_and_flags_always_count(folders: Folders) -> None:
    """What the folder may not say, the user's own file says below it."""
    folders.write("speech.command = 'sh pwn.sh'\nmodel.api_base = 'http://stranger'\n")
    own = folders.home / "echoic" / "config.toml"
    own.write_text("speech.command = 'say'\nwebhook.url = 'https://mine.example'\n")

    settings = folders.read({"packs": ["desk"]}, ECHOIC_MODEL_API_BASE="http://mine")

    assert settings.speech_command == "say"
    assert settings.webhook_url == "https://mine.example"
    assert settings.model_api_base == "http://mine"
    assert settings.packs == ("desk",)


def test_a_file_that_reaches_nothing_needs_no_trust(folders: Folders) -> None:
    """Nobody is asked about thresholds."""
    folders.write("threshold = 0.2\n")

    settings = folders.read()

    assert (settings["threshold"], settings.withheld) == (0.2, None)


def test_trust_is_taken_back(folders: Folders) -> None:
    """Of a folder that was deleted, too."""
    folders.write("speech.command = 'say'\n")
    folders.trust()

    assert trust.distrust(folders.here, folders.environment)
    assert not trust.distrust(folders.here, folders.environment)
    assert folders.read().speech_command is None


@pytest.mark.parametrize("content", ["{", "[]", '{"/": 1}'])
def test_a_damaged_list_trusts_nobody(folders: Folders, content: str) -> None:
    """It is an error with the next command, where it matters."""
    folders.write("speech.command = 'say'\n")
    (folders.home / "echoic" / "trusted.json").write_text(content)

    with pytest.raises(SettingsError, match="the list of trusted folders") as caught:
        folders.read()

    assert "rm " in (caught.value.next_step or "")


def test_the_list_is_the_users_alone(folders: Folders) -> None:
    """Nobody else may add to it."""
    folders.trust()
    store = folders.home / "echoic" / "trusted.json"

    assert json.loads(store.read_text()) == {os.path.realpath(folders.here): ""}
    assert store.stat().st_mode & 0o777 == 0o600
