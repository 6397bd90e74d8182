"""Controls: whatever changes behaviour is an input of the log, answered like any other."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from schemas.messages.arms import Action
from schemas.messages.experiments import UnitKind, Variant
from schemas.messages.sensing import Fields
from schemas.values import persons
from schemas.values.base import (
    Kind,
    Message,
    Moment,
    Name,
    Personal,
    PersonalCode,
    PersonalName,
    Scalar,
    Unit,
    added,
)
from schemas.values.persons import PersonToken
from schemas.values.reasons import Origin, ResponseType
from schemas.values.settings import CodeDigests, MindSettings, SessionClock


class Control(Message):
    """A change of how the mind behaves, by a person or a program."""

    kind: ClassVar[Kind] = "control"


class MindStarted(Control):
    """A worker took over the partition; these settings are in force from here."""

    token: ClassVar[str] = "mind_started"

    settings: MindSettings
    digests: CodeDigests


class SegmentClosed(Control):
    """The stream that held this partition was closed; what follows stands in the next one."""

    token: ClassVar[str] = "segment_closed"

    stream: Name
    """The one that was closed."""
    last: int = Field(ge=0)
    """Its last sequence, over all of its partitions."""
    digest: str = ""
    """Of its end: blake2b (hex) over the last message of each partition and direction."""


class SessionStarted(Control):
    """A session of the agent starts; an open one ends."""

    token: ClassVar[str] = "session_started"

    session_id: Name
    title: Personal = ""
    clock: SessionClock = "broker"
    """`event`: the agent's time is that of its events (recordings, games)."""
    world: Name | None = None
    """The world that it is in: all members of one world have the same, a place too."""


class SessionEnded(Control):
    """The agent's open session ends; its time is the broker's again."""

    token: ClassVar[str] = "session_ended"


class GoalsSet(Control):
    """The active goals are these, and no others."""

    token: ClassVar[str] = "goals_set"

    goals: tuple[Personal, ...] = Field(max_length=32)
    domain: Name | None = None
    """The domain whose events they also apply to; None: they are the agent's own."""


class PackLoaded(Control):
    """A pack is in force from here, in place of one of the same name; or is taken out."""

    token: ClassVar[str] = "pack_loaded"

    name: Name
    pack_version: Name
    digest: Name
    """The sha256 of the pack's blob."""
    off: bool = added(False)
    """Whether it is taken out, which was in force until here."""


class StrategySelected(Control):
    """The agent uses this strategy from here."""

    token: ClassVar[str] = "strategy_selected"

    strategy: Name
    parameters: Fields = Field(default_factory=dict)


class HeuristicSeeded(Control):
    """A person taught a heuristic: in such a situation, say this."""

    token: ClassVar[str] = "heuristic_seeded"

    heuristic_id: Name
    name: PersonalName
    domain: Name
    """The pack, or the undeclared source, whose events it may answer."""
    condition: Personal = Field(min_length=1, max_length=1_000)
    when: PersonalCode | None = None
    """What must hold of the event's type and fields besides."""
    response_type: ResponseType = "suggestion"
    text: Personal = Field(min_length=1, max_length=2_000)
    action: Action | None = None
    confidence: Unit = 0.5
    urgency: Unit = 0.0


class HeuristicEdited(Control):
    """A person changed a seeded heuristic; what is not named stays as it was."""

    token: ClassVar[str] = "heuristic_edited"

    heuristic_id: Name
    name: PersonalName | None = None
    condition: Personal | None = Field(default=None, min_length=1, max_length=1_000)
    when: PersonalCode | None = None
    text: Personal | None = Field(default=None, min_length=1, max_length=2_000)
    action: Action | None = None
    keep: bool = False
    """Whether the new content inherits the confidence earned."""


class HeuristicFrozen(Control):
    """A person froze a heuristic, which then never fires, or released it."""

    token: ClassVar[str] = "heuristic_frozen"

    heuristic_id: Name
    # One message for both directions, so that the latest simply holds.
    frozen: bool = True
    reason: Personal = ""


class SleepRequested(Control):
    """The agent is to sleep: review its recent decisions and propose changes."""

    token: ClassVar[str] = "sleep_requested"

    since: Moment | None = None
    """Only decisions since then are reviewed."""
    limit: int | None = Field(default=None, ge=0, le=64)
    """How many decisions at most; None: as set."""
    apply: Literal["by_hand", "safe"] | None = None
    """Which proposals are applied at once; None: as set."""
    by: Name = "user"


class PriorUpdated(Control):
    """The prior of heuristics of one origin is this from here.

    A heuristic that has evidence already keeps the prior it started from.
    """

    token: ClassVar[str] = "prior_updated"

    origin: Origin
    kappa: float = Field(default=2.0, ge=0.1, le=1_000.0)
    """The weight of the prior, in observations."""
    mean: Unit | None = None
    """The success rate of the prior; None: what each heuristic declares."""
    is_default: bool = False
    """Whether the origin goes back to the settings' prior, whatever is given here."""
    detail: Personal = Field(default="", max_length=2_000)
    """The reason for it."""
    by: Name = "user"


class ProfileSet(Control):
    """The profile: biases that adjust thresholds, or how one person is addressed."""

    token: ClassVar[str] = "profile_set"

    biases: dict[str, float] = Field(default_factory=dict, max_length=32)
    domain: Name | None = None
    """The domain whose events they apply to, overriding the agent's own; None: its own."""
    person: PersonToken | None = None
    """The person whose profile it is, which then holds no biases."""
    name: Personal | None = Field(default=None, max_length=200)
    """The person's name."""
    address: Personal | None = Field(default=None, max_length=200)
    """How the person wants to be addressed, for example `Doctor Lee`."""
    language: Name | None = None
    """As a language tag, for example `en` or `de`."""

    @model_validator(mode="before")
    @classmethod
    def _tells_the_person(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        known = dict(persons.told(fields))
        called = known.pop("called", None)
        return known if called is None else {"name": called, **known}


class ProposalSubmitted(Control):
    """Somebody proposes other settings for the agent, without applying them."""

    token: ClassVar[str] = "proposal_submitted"

    proposal_id: Name
    changes: dict[Name, Scalar] = Field(min_length=1, max_length=16)
    """Settings by name, such as `learning.gamma` or `strategy.threshold`."""
    evidence: Personal = Field(default="", max_length=2_000)
    """The evidence for it, in words."""
    figures: dict[Name, float] = Field(default_factory=dict, max_length=32)
    """The evidence for it, in numbers."""
    baseline: dict[Name, Scalar] = Field(
        default_factory=dict, max_length=16, exclude_if={}.__eq__
    )
    """The values that it was measured against, by name; refused if others are in force."""
    by: Name = "user"


class ProposalApplied(Control):
    """A proposal is in force from here."""

    token: ClassVar[str] = "proposal_applied"

    proposal_id: Name
    by: Name = "user"


class ProposalReverted(Control):
    """What was in force before a proposal was applied is in force again."""

    token: ClassVar[str] = "proposal_reverted"

    proposal_id: Name
    by: Name = "user"


class ExperimentStarted(Control):
    """From here each session, or person, gets one of two variants by a keyed draw."""

    token: ClassVar[str] = "experiment_started"

    experiment_id: Name
    """Part of the draws' key: the same units get other variants under another id."""
    a: Variant = Variant.model_construct()
    b: Variant = Variant.model_construct()
    by: UnitKind = "session"
    washout_s: float = Field(default=300.0, ge=0.0, le=1e9)
    """For so many seconds after a change of variant, decisions are marked as washout."""
    silence: Unit = added(0.5)
    """What silence counts when the experiment is judged; set before anything was seen."""
    title: Personal = Field(default="", max_length=200)


class ExperimentStopped(Control):
    """The running experiment ends; the agent behaves as without it again."""

    token: ClassVar[str] = "experiment_stopped"

    experiment_id: Name | None = None
    """The experiment to stop; None: whichever runs."""


class PersonForgotten(Control):
    """A person's key was destroyed: the agent goes on as if it had never heard the words."""

    token: ClassVar[str] = "person_forgotten"

    person: PersonToken
    keys: tuple[Name, ...] = Field(default=(), max_length=1_000)
    """The names of the keys that were destroyed; a restored copy of one is destroyed again."""
    by: Name = "user"
