"""The settings of the executive: when to speak, as whom, and through which channel."""

from typing import Annotated

from schemas.values.base import Name, Part
from schemas.values.setting import Setting

# Of a setting's declaration each part has its line, not each argument.
# fmt: off


class ExecutiveSettings(Part):
    """How the executive behaves; a log of before it was built has none of it."""

    timezone: Annotated[Name, Setting("timezone")] = "UTC"
    """The time zone of quiet hours and reminders, for example `Europe/Berlin`."""
