"""A café to test with: the source design's eleven actions, and four by command alone."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from handlers.mind.turn import Turn
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from schemas.state.autonomy import Autonomy
from tests import factories
from tests.scenario import Scenario, decision_id

ACTIONS: tuple[Mapping[str, Any], ...] = (
    {"id": "Idle", "nothing_in": ["*"]},
    {
        "id": "MoveToLocation",
        "kind": "wander",
        "target": "optional",
        "leaves": "walked",
    },
    {"id": "TurnTo", "target": "optional"},
    {
        "id": "SitAtChair",
        "kind": "sit",
        "target": "needed",
        "tag": "bench",
        "aliases": ["sit"],
    },
    {"id": "StandUp", "nothing_in": ["Idle", "Walking"], "aliases": ["stand"]},
    {"id": "LookAt", "kind": "look", "target": "optional", "aliases": ["look"]},
    {"id": "Lean"},
    {"id": "ExamineMenu", "aliases": ["menu"]},
    {"id": "PlayArcade", "kind": "game", "target": "needed", "tag": "arcade"},
    {"id": "PlayClaw", "kind": "game", "target": "needed", "tag": "claw"},
    {"id": "Wave", "kind": "gesture", "aliases": ["greet", "hello"]},
    {"id": "Greet", "kind": "gesture", "by_command": True, "lasts_s": 10},
    {"id": "Nod", "by_command": True},
    {"id": "HeadShake", "by_command": True},
    {"id": "Point", "by_command": True},
)

BODY: Mapping[str, Any] = {
    "fsm_state": "Idle",
    "position": [1.234, 0, -2.55],
    "nearby_objects": [{"name": "bench_01", "tag": "bench"}, "arcade_2"],
}


def cafe(**autonomous: Any) -> CompiledPack:
    """A pack whose agents are autonomous characters."""
    return factories.pack(
        name="cafe",
        types=("chatter",),
        events=[
            {"type": "body", "means": "body"},
            {"type": "ordered", "means": "command"},
            {"type": "report"},
        ],
        mind={
            "absent": {"asleep": 'fsm_state = "Sleeping"'},
            "autonomous": {"actions": list(ACTIONS), **autonomous},
        },
    )


def golem(**autonomous: Any) -> Scenario:
    """A scenario of one such character, without a model."""
    return Scenario(cafe(**autonomous), agent="golem")


def clever(**autonomous: Any) -> Scenario:
    """One with a model."""
    pack = cafe(**{"tier": 1, **autonomous})
    return Scenario(pack, agent="golem", model=factories.MODEL)


def body(scenario: Scenario, **fields: Any) -> Turn:
    """Report the character's body."""
    told = {**BODY, **fields}
    return scenario.sense("It stands.", source="world", type_="body", fields=told)


def report(
    scenario: Scenario,
    turn: Turn | str,
    outcome: str = "succeeded",
    text: str = "Done.",
) -> Turn:
    """Report how the action of a turn ended."""
    replied = turn if isinstance(turn, str) else decision_id(turn)
    return scenario.sense(
        text, source="world", type_="report", in_reply_to=replied, outcome=outcome
    )


def due(scenario: Scenario) -> Turn:
    """Wait until the character decides next, and let it."""
    at = scenario.mind.character.due
    assert at is not None
    scenario.wait((at - scenario.at) / timedelta(seconds=1))
    return scenario.tell(ClockTicked(due_at=scenario.at))


def answer(scenario: Scenario, asked: Turn, action: str, **more: Any) -> Turn:
    """Let the model choose an action."""
    return scenario.answer_model(asked, json.dumps({"action": action, **more}))


def known(scenario: Scenario) -> Autonomy:
    """What the character did and learnt."""
    return scenario.mind.character.autonomy
