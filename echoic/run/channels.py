"""Channels that take settings: what speaks, and who takes posted responses."""

from echoic.config.load import Settings
from echoic.errors import SettingsError
from handlers.effects.speech import Speaker, SpeechCommand
from handlers.effects.webhook import Webhook


def speaker(settings: Settings) -> Speaker | None:
    """Return who speaks; None without a command.

    Raises:
        SettingsError: the command cannot be read.
    """
    if settings.speech_command is None:
        return None
    try:
        command = SpeechCommand(
            settings.speech_command,
            voice=settings.speech_voice,
            may_interrupt=settings.speech_interrupt == "on",
            numbers=settings.speech_numbers,
        )
    except ValueError as error:
        raise SettingsError(
            f"speech.command cannot be read: {error}",
            next_step="docs/channels.md has examples",
        ) from error
    return Speaker(command)


def webhook(settings: Settings) -> Webhook | None:
    """Return who takes posted responses; None without an address.

    Raises:
        SettingsError: there is an address, and nothing to sign with.
    """
    if settings.webhook_url is None:
        return None
    if settings.webhook_secret is None:
        raise SettingsError(
            "webhook.url is set, and webhook.secret is not",
            next_step="set ECHOIC_WEBHOOK_SECRET, or ECHOIC_WEBHOOK_SECRET_FILE",
        )
    try:
        return Webhook(settings.webhook_url, settings.webhook_secret)
    except ValueError as error:
        raise SettingsError(
            "webhook.secret begins with whsec_, and what follows is not base64",
            next_step="correct it, or give any other text",
        ) from error
