"""Channels that take settings: mistakes are told before anything is started."""

from typing import Any

import pytest

from echoic.config.load import load, mind_settings
from echoic.errors import SettingsError
from echoic.run import channels
from tests.factories import LIMITS


def test_without_settings_there_is_neither() -> None:
    """And the mind is told that nothing can be spoken."""
    settings = load(environment={})
    executive = mind_settings(settings, LIMITS).executive

    assert channels.speaker(settings) is None
    assert channels.webhook(settings) is None
    assert executive is not None
    assert not executive.speech


def test_a_command_makes_a_speaker() -> None:
    """The mind records that there is one, not which."""
    given: dict[str, Any] = {
        "speech.command": "say -v {voice}",
        "speech.voice": "anneliese",
    }
    settings = load({**given, "speech.interrupt": "off"}, environment={})
    speaker = channels.speaker(settings)
    executive = mind_settings(settings, LIMITS).executive

    assert speaker is not None
    assert (speaker.command.voice, speaker.command.may_interrupt) == (
        "anneliese",
        False,
    )
    assert executive is not None
    assert executive.speech
    assert "anneliese" not in executive.model_dump_json()


@pytest.mark.parametrize(
    "given",
    [
        {"speech.command": "say 'unclosed"},
        {"webhook.url": "https://example.org"},
        {"webhook.url": "https://example.org", "webhook.secret": "whsec_?"},
    ],
    ids=["command", "no secret", "no base64"],
)
def test_mistakes_are_told(given: dict[str, object]) -> None:
    """With what to do."""
    settings = load(given, environment={})

    with pytest.raises(SettingsError):
        [channels.speaker(settings), channels.webhook(settings)]


def test_both_make_a_webhook() -> None:
    """An address, and a secret to sign with."""
    given: dict[str, object] = {
        "webhook.url": "https://example.org",
        "webhook.secret": "hush",
    }

    assert channels.webhook(load(given, environment={})) is not None
