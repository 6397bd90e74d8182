"""Controls of the executive: when to speak, as whom, to whom, and what is remembered.

Each comes from a person, a sensor or a program as an input; or the mind infers it, for
example from a person's words, and records it as `ControlInferred` (ADR 0039).
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import Meta
from msgspec.structs import replace
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from schemas.messages.controls import Control
from schemas.messages.sensing import OfCalendar, in_utc
from schemas.values import base, persons
from schemas.values.base import Name, Personal, PersonalName, Token, written
from schemas.values.personality import Trait
from schemas.values.persons import PersonToken
from schemas.values.reasons import ResponseType
from schemas.values.recurrence import Repeat

_ABOUT_LIMIT = 500
"""How many characters a topic may have."""


def _no_bool(value: object) -> object:
    # To Python `true` is 1, but nobody means a second or a whole step by it.
    if isinstance(value, bool):
        raise PydanticCustomError("number", "a number is wanted, not true or false")
    return value


Seconds = Annotated[base.Seconds, BeforeValidator(_no_bool)]
_Signed = Annotated[base.Signed, BeforeValidator(_no_bool)]

_PERSONS_LIMIT = 64
"""How many people a sensor may be granted."""

_Topic = Annotated[Personal, Meta(min_length=1, max_length=_ABOUT_LIMIT)]


class OfPerson(Control, frozen=True, kw_only=True):
    """A control that concerns one person, or everybody who is there."""

    person: PersonToken | None = None
    """Whom it concerns; None: everybody. A name of any script may be given."""
    called: PersonalName | None = None
    """The person's name, where a token was derived from it."""
    by: Name = written("user")
    """Who wants it: a person, a sensor or a program."""

    @classmethod
    def prepared(cls, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields with a token for the person."""
        return persons.told(fields)


class Muted(OfPerson, frozen=True, kw_only=True):
    """The companion is quiet, or mute, for a time; or no longer."""

    token: ClassVar[str] = "muted"

    mode: Literal["quiet", "mute"] = written("quiet")
    """`quiet`: alerts, answers to that person's words and that person's own reminders
    still pass; `mute`: nothing does."""
    for_s: Seconds | None = None
    """For so many seconds; None: for 10 minutes if quiet, until taken back if mute."""
    off: bool = written(False)
    """Whether it ends now."""


class SalienceModulated(OfPerson, frozen=True, kw_only=True):
    """What matters is moved: a topic suppressed or watched for, the threshold moved."""

    token: ClassVar[str] = "salience_modulated"

    change: Literal["suppress", "heighten", "habituate", "threshold", "focus", "clear"]
    """`threshold`: `amount` is added to what an event must matter, for all topics;
    `focus`: what fits the topic matters more, what does not fit matters less; `clear`: the
    modulation named by `modulation_id` ends, or all of them do."""
    about: _Topic | None = None
    """The topic in words."""
    source: Token | None = None
    """The only sensor whose events are meant."""
    type: Token | None = None
    """The only type of event that is meant."""
    amount: _Signed | None = None
    """By how much; None: as usual for the change."""
    for_s: Seconds | None = None
    """For so many seconds; None: until cleared."""
    once: bool = False
    """Whether a topic that is watched for ends with the first time that it comes."""
    modulation_id: Name | None = None
    """Which modulation is cleared; its id is that of the input or note that made it."""


class UserStateChanged(OfPerson, frozen=True, kw_only=True):
    """What a person is doing, as a sensor or the person says; what is absent stays."""

    token: ClassVar[str] = "user_state_changed"

    busy: bool | None = None
    typing: bool | None = None
    in_menu: bool | None = None
    asleep: bool | None = None
    away: bool | None = None
    """Nobody is there to hear anything."""
    activity: PersonalName | None = None
    focus: Annotated[Personal, Meta(max_length=_ABOUT_LIMIT)] | None = None
    """What the person is about, in words; empty: nothing in particular."""
    sentiment: _Signed | None = None
    """How the person feels, from -1 bad to 1 good."""


class BreakSignalled(OfPerson, frozen=True, kw_only=True):
    """A natural break: what waited for one may be said now."""

    token: ClassVar[str] = "break_signalled"

    signal: Name = written("asked")
    """For example `typing_paused`, `menu_closed`, `combat_ended`, `asked`."""


class ContextSwitched(OfPerson, frozen=True, kw_only=True):
    """What the companion takes part in is another thing from here."""

    token: ClassVar[str] = "context_switched"

    context: Token
    """`gaming`, `work`, `home`, `general`, or one that a pack declares."""
    for_s: Seconds | None = None
    """For so many seconds, after which what was before holds again; None: until the next."""


class TraitAdjusted(OfPerson, frozen=True, kw_only=True):
    """A trait is moved for a while, on top of template and context."""

    token: ClassVar[str] = "trait_adjusted"

    trait: Trait
    by_amount: _Signed | None = None
    """What is added, from -1 to 1; None: the adjustment ends."""
    for_s: Seconds | None = None
    """For so many seconds; None: until taken back."""


class PersonalitySelected(OfPerson, frozen=True, kw_only=True):
    """Another personality template is the active one from here."""

    token: ClassVar[str] = "personality_selected"

    template: Name
    """A shipped template, `<pack>/<template>`, or `none`; whoever wants it, it is the
    personality for everybody."""


class SkillLoaded(OfPerson, frozen=True, kw_only=True):
    """A person enabled a capability, or a skill was loaded by hand."""

    token: ClassVar[str] = "skill_loaded"

    skill: Name
    """As `<pack>/<skill>`, or a shipped one."""


class SkillUnloaded(OfPerson, frozen=True, kw_only=True):
    """A skill is not to be used any more."""

    token: ClassVar[str] = "skill_unloaded"

    skill: Name


class FactStated(OfPerson, frozen=True, kw_only=True):
    """Something is so, as a person, a sensor or a pack states it; or it is so no more."""

    token: ClassVar[str] = "fact_stated"

    subject: Annotated[Personal, Meta(min_length=1, max_length=200)]
    relation: Annotated[Personal, Meta(max_length=200)]
    """Empty only if all that was stated of the subject is to be forgotten."""
    object: Annotated[Personal, Meta(max_length=1_000)]
    """Empty only if the fact is to be forgotten."""
    forget: bool = written(False)
    """Whether what was stated of subject and relation is to be forgotten."""


class ReminderSet(OfPerson, frozen=True, kw_only=True):
    """At a time something is to be said; or no longer."""

    token: ClassVar[str] = "reminder_set"

    reminder_id: Name | None = None
    """None: the id of the input or note that set it."""
    text: Annotated[Personal, Meta(max_length=2_000)] = written("")
    due_at: OfCalendar | None = None
    """When; the instant, whatever the time zone is later."""
    in_s: Seconds | None = None
    """Or in so many seconds of the agent's time."""
    repeat: Repeat | None = None
    """When it comes again, in the settings' time zone; the first time is that above."""
    purpose: Literal["reminder", "milestone"] = "reminder"
    """`milestone`: a pack declares that so many events of a kind are worth a word."""
    urgent: bool = False
    """Whether it is said even while the person is busy."""
    off: bool = written(False)
    """Whether the reminder of this id is taken back."""

    def settled(self) -> Self:
        """Return it with its time in UTC; refuse one at the ends of the calendar."""
        at = self.due_at
        return self if at is None else replace(self, due_at=in_utc(at))


class PersonsGranted(Control, frozen=True, kw_only=True):
    """Whom a sensor may name, as its account was made; whom else it names is `unknown`."""

    token: ClassVar[str] = "persons_granted"

    source: Token
    """The sensor; one that no such message names is believed."""
    persons: Annotated[tuple[PersonToken, ...], Meta(max_length=_PERSONS_LIMIT)]
    """All of them; empty: nobody."""


class OutputRequested(OfPerson, frozen=True, kw_only=True):
    """Somebody wants a text said, in these words, as far as the limits allow."""

    token: ClassVar[str] = "output_requested"

    text: Annotated[Personal, Meta(min_length=1, max_length=2_000)]
    channel: Token | None = None
    """Where it goes; None: wherever responses go."""
    response_type: ResponseType = written("observation")
    """An `alert` is said at once, and passes all limits but a mute."""
    urgent: bool = written(False)
    """Whether it is said even while the person is busy."""
    ttl_s: Seconds | None = None
    """How long it is worth saying; None: five minutes."""


class OutputInterrupted(OfPerson, frozen=True, kw_only=True):
    """What is being said now is to stop."""

    token: ClassVar[str] = "output_interrupted"

    decision_id: Name | None = None
    """Only if it is this response; None: whatever is being said."""
    channel: Token | None = None
