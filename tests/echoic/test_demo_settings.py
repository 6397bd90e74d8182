"""The settings of the demo: the same on every machine, whatever the user's own are."""

from pathlib import Path

import pytest

from echoic.demo.run import _settings


def test_the_users_own_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port that their instance listens on cannot keep the demo from starting."""
    own = tmp_path / "config" / "echoic"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('nats.mqtt = "127.0.0.1:1883"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ECHOIC_NATS_MQTT", "127.0.0.1:1884")

    settings = _settings(tmp_path / "demo")

    assert settings.nats_mqtt is None
    assert settings.agent == "companion"


def test_a_home_with_such_a_file_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `XDG_CONFIG_HOME` is not set the file lies in `~/.config`."""
    own = tmp_path / ".config" / "echoic"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('nats.mqtt = "127.0.0.1:1883"\n')
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert _settings(tmp_path / "demo").nats_mqtt is None


def test_traces_go_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the page on tracing has it."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.2:4318")

    assert _settings(tmp_path).trace_endpoint == "http://127.0.0.2:4318"
