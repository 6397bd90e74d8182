"""Whether the log is as `privacy.seal` says: a log is sealed for its whole life, or never."""

from echoic.client.connection import LiveLog
from echoic.errors import SettingsError


def check_sealing(log: LiveLog, *, wanted: bool) -> None:
    """Check that the log is sealed if that is wanted, and only then.

    Raises:
        SettingsError: it is not so. What stands in a log in clear cannot be forgotten, and
            nothing may be written in clear into one that is sealed.
    """
    is_sealed = log.keyring is not None
    if is_sealed == wanted:
        return
    if is_sealed:
        raise SettingsError(
            "this log is sealed, and privacy.seal is off: nothing may be added to it in"
            " clear",
            next_step="ECHOIC_PRIVACY_SEAL=on echoic up",
        )
    raise SettingsError(
        "privacy.seal is on, and this log has held words in clear since it began: what"
        " cannot be deleted there cannot be forgotten. Only a new data folder can be sealed",
        next_step="echoic up --data NEW_FOLDER",
    )
