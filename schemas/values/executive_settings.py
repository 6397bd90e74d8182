"""The settings of the executive: when to speak, as whom, and through which channel."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Name, Part, Seconds
from schemas.values.personality import PersonalityTemplate
from schemas.values.setting import Setting

# Of a setting's declaration each part has its line, not each argument.
# fmt: off


class ExecutiveSettings(Part):
    """How the executive behaves; a log of before it was built has none of it."""

    timezone: Annotated[Name, Setting("timezone")] = "UTC"
    """The time zone of quiet hours and reminders, for example `Europe/Berlin`."""
    template: Annotated[str, Setting("personality.template", form="template")] = (
        Field(default="", max_length=200)
    )
    """The personality: `butler`, `coach`, `engineer`, `jester`, or `<pack>/<template>`;
    empty: none. In a file the name is quoted: "personality.template" = "butler"."""
    templates: tuple[PersonalityTemplate, ...] = ()
    """Those that come with the program, as they were when the mind started."""
    mood_half_life_s: Annotated[
        Seconds, Setting("mood.half_life_minutes", start=30.0, scale=60.0)
    ] = 1_800.0
    """How long half of a mood lasts."""
