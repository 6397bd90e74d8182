"""Controls: whatever changes behaviour is an input of the log, answered like any other."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from schemas.messages.arms import Action, HeuristicContent
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
    Seconds,
    Unit,
    written,
)
from schemas.values.persons import PersonToken
from schemas.values.reasons import Origin, ResponseType
from schemas.values.settings import CodeDigests, MindSettings, SessionClock


class Control(Message, frozen=True, kw_only=True):
    """A change of how the mind behaves, by a person or a program."""

    kind: ClassVar[Kind] = "control"


class MindStarted(Control, frozen=True, kw_only=True):
    """A worker took over the partition; these settings are in force from here."""

    token: ClassVar[str] = "mind_started"

    settings: MindSettings
    digests: CodeDigests


class SegmentClosed(Control, frozen=True, kw_only=True):
    """The stream that held this partition was closed; what follows stands in the next one."""

    token: ClassVar[str] = "segment_closed"

    stream: Name
    """The one that was closed."""
    last: Annotated[int, Meta(ge=0)]
    """Its last sequence, over all of its partitions."""
    digest: str = written("")
    """Of its end: blake2b (hex) over the last message of each partition and direction."""


class SessionStarted(Control, frozen=True, kw_only=True):
    """A session of the agent starts; an open one ends."""

    token: ClassVar[str] = "session_started"

    session_id: Name
    title: Personal = written("")
    clock: SessionClock = written("broker")
    """`event`: the agent's time is that of its events (recordings, games)."""
    world: Name | None = None
    """The world that it is in: all members of one world have the same, a place too."""


class SessionEnded(Control, frozen=True, kw_only=True):
    """The agent's open session ends; its time is the broker's again."""

    token: ClassVar[str] = "session_ended"


class GoalsSet(Control, frozen=True, kw_only=True):
    """The active goals are these, and no others."""

    token: ClassVar[str] = "goals_set"

    goals: Annotated[tuple[Personal, ...], Meta(max_length=32)]
    domain: Name | None = None
    """The domain whose events they also apply to; None: they are the agent's own."""


class PackLoaded(Control, frozen=True, kw_only=True):
    """A pack is in force from here, in place of one of the same name; or is taken out."""

    token: ClassVar[str] = "pack_loaded"

    name: Name
    pack_version: Name
    digest: Name
    """The sha256 of the pack's blob."""
    off: bool = False
    """Whether it is taken out, which was in force until here."""


class StrategySelected(Control, frozen=True, kw_only=True):
    """The agent uses this strategy from here."""

    token: ClassVar[str] = "strategy_selected"

    strategy: Name
    parameters: Fields = written({})


class HeuristicSeeded(Control, HeuristicContent, frozen=True, kw_only=True):
    """A person taught a heuristic: in such a situation, say this."""

    token: ClassVar[str] = "heuristic_seeded"

    response_type: ResponseType = written("suggestion")
    confidence: Unit = written(0.5)
    urgency: Unit = written(0.0)


class HeuristicEdited(Control, frozen=True, kw_only=True):
    """A person changed a seeded heuristic; what is not named stays as it was."""

    token: ClassVar[str] = "heuristic_edited"

    heuristic_id: Name
    name: PersonalName | None = None
    condition: Annotated[Personal, Meta(min_length=1, max_length=1_000)] | None = None
    when: PersonalCode | None = None
    text: Annotated[Personal, Meta(min_length=1, max_length=2_000)] | None = None
    action: Action | None = None
    keep: bool = written(False)
    """Whether the new content inherits the confidence earned."""


class HeuristicFrozen(Control, frozen=True, kw_only=True):
    """A person froze a heuristic, which then never fires, or released it."""

    token: ClassVar[str] = "heuristic_frozen"

    heuristic_id: Name
    # One message for both directions, so that the latest simply holds.
    frozen: bool = written(True)
    reason: Personal = written("")


class SleepRequested(Control, frozen=True, kw_only=True):
    """The agent is to sleep: review its recent decisions and propose changes."""

    token: ClassVar[str] = "sleep_requested"

    since: Moment | None = None
    """Only decisions since then are reviewed."""
    limit: Annotated[int, Meta(ge=0, le=64)] | None = None
    """How many decisions at most; None: as set."""
    apply: Literal["by_hand", "safe"] | None = None
    """Which proposals are applied at once; None: as set."""
    by: Name = written("user")


class PriorUpdated(Control, frozen=True, kw_only=True):
    """The prior of heuristics of one origin is this from here.

    A heuristic that has evidence already keeps the prior it started from.
    """

    token: ClassVar[str] = "prior_updated"

    origin: Origin
    kappa: Annotated[float, Meta(ge=0.1, le=1_000.0)] = written(2.0)
    """The weight of the prior, in observations."""
    mean: Unit | None = None
    """The success rate of the prior; None: what each heuristic declares."""
    is_default: bool = written(False)
    """Whether the origin goes back to the settings' prior, whatever is given here."""
    detail: Annotated[Personal, Meta(max_length=2_000)] = written("")
    """The reason for it."""
    by: Name = written("user")


class ProfileSet(Control, frozen=True, kw_only=True):
    """The profile: biases that adjust thresholds, or how one person is addressed."""

    token: ClassVar[str] = "profile_set"

    biases: Annotated[dict[str, float], Meta(max_length=32)] = written({})
    domain: Name | None = None
    """The domain whose events they apply to, overriding the agent's own; None: its own."""
    person: PersonToken | None = None
    """The person whose profile it is, which then holds no biases."""
    name: Annotated[Personal, Meta(max_length=200)] | None = None
    """The person's name."""
    address: Annotated[Personal, Meta(max_length=200)] | None = None
    """How the person wants to be addressed, for example `Doctor Lee`."""
    language: Name | None = None
    """As a language tag, for example `en` or `de`."""
    for_s: Seconds | None = None
    """A person's, for so many seconds; None: until it is set again."""
    off: bool = False
    """Whether what was set for a while ends now."""

    @classmethod
    def prepared(cls, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields with a token for the person, named so if no name is given."""
        known = dict(persons.told(fields))
        called = known.pop("called", None)
        return known if called is None else {"name": called, **known}


class ProposalSubmitted(Control, frozen=True, kw_only=True):
    """Somebody proposes other settings for the agent, without applying them."""

    token: ClassVar[str] = "proposal_submitted"

    proposal_id: Name
    changes: Annotated[dict[Name, Scalar], Meta(min_length=1, max_length=16)]
    """Settings by name, such as `learning.gamma` or `strategy.threshold`."""
    evidence: Annotated[Personal, Meta(max_length=2_000)] = written("")
    """The evidence for it, in words."""
    figures: Annotated[dict[Name, float], Meta(max_length=32)] = written({})
    """The evidence for it, in numbers."""
    baseline: Annotated[dict[Name, Scalar], Meta(max_length=16)] = field(
        default_factory=dict
    )
    """The values that it was measured against, by name; refused if others are in force."""
    by: Name = written("user")


class ProposalApplied(Control, frozen=True, kw_only=True):
    """A proposal is in force from here."""

    token: ClassVar[str] = "proposal_applied"

    proposal_id: Name
    by: Name = written("user")


class ProposalReverted(Control, frozen=True, kw_only=True):
    """What was in force before a proposal was applied is in force again."""

    token: ClassVar[str] = "proposal_reverted"

    proposal_id: Name
    by: Name = written("user")


class ExperimentStarted(Control, frozen=True, kw_only=True):
    """From here each session, or person, gets one of two variants by a keyed draw."""

    token: ClassVar[str] = "experiment_started"

    experiment_id: Name
    """Part of the draws' key: the same units get other variants under another id."""
    a: Variant = written(Variant())
    b: Variant = written(Variant())
    by: UnitKind = written("session")
    washout_s: Annotated[float, Meta(ge=0.0, le=1e9)] = written(300.0)
    """For so many seconds after a change of variant, decisions are marked as washout."""
    silence: Unit = 0.5
    """What silence counts when the experiment is judged; set before anything was seen."""
    title: Annotated[Personal, Meta(max_length=200)] = written("")


class ExperimentStopped(Control, frozen=True, kw_only=True):
    """The running experiment ends; the agent behaves as without it again."""

    token: ClassVar[str] = "experiment_stopped"

    experiment_id: Name | None = None
    """The experiment to stop; None: whichever runs."""


class PersonForgotten(Control, frozen=True, kw_only=True):
    """A person's key was destroyed: the agent goes on as if it had never heard the words."""

    token: ClassVar[str] = "person_forgotten"

    person: PersonToken
    keys: Annotated[tuple[Name, ...], Meta(max_length=1_000)] = written(())
    """The names of the keys that were destroyed; a restored copy of one is destroyed again."""
    by: Name = written("user")
