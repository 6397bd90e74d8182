"""The 42 actions of the source design, as one table that the café obeys.

Its numbers are `ActionId`'s, by layers. What a mind knows of them stands in the manifest; a
test holds the two together.
"""

from dataclasses import dataclass, replace
from typing import Literal

from packs.golem.sensor import states

_Does = Literal[
    "engine", "gesture", "walk", "use", "stand", "stop", "idle", "composite"
]
"""What the body does: nothing, for the engine tells itself; something where it stands; a way;
something with an object; getting up; standing still; several of these."""

_WALKS_M_S, _RUNS_M_S = 1.4, 3.0


@dataclass(frozen=True, slots=True)
class Row:
    """An action."""

    number: int
    layer: str
    id: str
    does: _Does
    seconds: float = 0.0
    """How long it takes, besides the way there."""
    tags: tuple[str, ...] = ()
    """The tags of what it is done with."""
    leads_to: str = states.IDLE
    """The state in which it is completed."""
    speed: float = _WALKS_M_S
    by: Literal["nobody", "command", "itself"] = "nobody"
    """Who may ask for it: a command alone, or the character by itself, too."""

    @property
    def is_routed(self) -> bool:
        """Whether it is one of the 13 commands of the router."""
        return self.layer == "Character"


def _engine(first: int, layer: str, *ids: str) -> tuple[Row, ...]:
    return tuple(Row(first + n, layer, id_, "engine") for n, id_ in enumerate(ids))


def _gestures(first: int, *ids: str) -> tuple[Row, ...]:
    return tuple(
        Row(first + n, "Agent", id_, "gesture", 2.0) for n, id_ in enumerate(ids)
    )


def _use(number: int, id_: str, leads_to: str, *tags: str) -> Row:
    row = Row(number, "Character", id_, "use", tags=tags, leads_to=leads_to)
    return replace(row, by="itself")


TABLE: tuple[Row, ...] = (
    *_engine(100, "System", "Update", "LateUpdate", "FixedUpdate"),
    *_engine(200, "Agent", "Connected", "Disconnected", "StateChanged", "Error"),
    *_engine(210, "Agent", "ActionStarted", "ActionCompleted", "ActionFailed"),
    *_engine(220, "Agent", "PlanUpdated", "ReflectionTriggered"),
    *_gestures(300, "VoiceEmote", "TTSStart", "TTSEnd"),
    *_gestures(310, "AnimatedEmote"),
    *_gestures(320, "FacialExpression"),
    *_gestures(330, "Gesture"),
    *_gestures(340, "GazeAt", "GazeAway"),
    Row(400, "Character", "MoveToLocation", "walk", by="itself"),
    Row(401, "Character", "WalkTo", "walk"),
    Row(402, "Character", "RunTo", "walk", speed=_RUNS_M_S),
    Row(403, "Character", "Stop", "stop"),
    Row(404, "Character", "TurnTo", "gesture", 1.0, by="itself"),
    _use(450, "SitAtChair", states.SITTING, "bench", "chair"),
    Row(451, "Character", "StandUp", "stand", by="itself"),
    Row(452, "Character", "Idle", "idle", 5.0, by="itself"),
    _use(453, "Lean", states.LEANING, "slot_chair"),
    _use(500, "ExamineMenu", states.LOOKING, "menu"),
    Row(501, "Character", "LookAt", "gesture", 1.0, by="itself"),
    _use(550, "PlayArcade", states.PLAYING_ARCADE, "arcade"),
    _use(551, "PlayClaw", states.PLAYING_CLAW, "claw"),
    Row(600, "Social", "Greet", "gesture", 2.0, by="command"),
    Row(601, "Social", "Wave", "gesture", 2.0, by="itself"),
    Row(602, "Social", "Nod", "gesture", 1.5, by="command"),
    Row(603, "Social", "HeadShake", "gesture", 1.5, by="command"),
    Row(604, "Social", "Point", "gesture", 2.0, by="command"),
    Row(700, "Camera", "ChangeAngle", "gesture", 0.0),
    Row(800, "Composite", "MultiAction", "composite"),
    Row(801, "Composite", "Sequence", "composite"),
    *_engine(900, "Feedback", "ActionResult"),
)

BY_ID = {row.id: row for row in TABLE}
ROUTED = tuple(row.id for row in TABLE if row.is_routed)
