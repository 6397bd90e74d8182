"""Crafter as a second body of the golem: goals of many steps, decided on by its mind."""

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("crafter")

from bench.players import MIDNIGHT, Players
from echoic.packs.load import load
from packs.golem.survivor.world import MACROS, World
from packs.playing import Plan, Played, play
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import StrategySpec
from tests.replay.evening import verified

PACK = Path(__file__).parents[3] / "packs" / "golem" / "survivor"
MODEL = ModelSettings(name="fixed")
NEEDS = {
    "Drink": 0.3,
    "Eat": 0.55,
    "Sleep": 0.65,
    "CollectWood": 0.85,
    "PlaceTable": 1.0,
}


def answer(id_: str, _: str) -> str:
    """What a model says that looks after itself, by a draw of the question's id."""
    at = int(id_.replace("-", "")[-6:], 16) / 16**6
    chosen = next(each for each, until in NEEDS.items() if at < until)
    return json.dumps({"action": chosen, "confidence": 0.9})


def lived(tier: int, seconds: float = 400.0) -> tuple[Played, Players, World]:
    """Some minutes of a life on a tier."""
    plan = Plan(("golem",), MIDNIGHT, "survivor", begins_s=0.0, lasts_s=seconds)
    strategy = StrategySpec(name="layers", parameters={"tier": tier})
    asked = MODEL if tier else None
    players = Players(plan, {"golem": load(PACK)}, asked, answer, strategy)
    world = World(7, "golem", 0.0)
    players.begin(lambda _: "")
    return asyncio.run(play(world, plan, players.publish, players.hear)), players, world


def test_the_game_knows_all_that_the_mind_may_choose() -> None:
    """One table of actions on either side."""
    mind = load(PACK).mind
    assert mind is not None
    assert mind.autonomous is not None
    assert {each.id for each in mind.autonomous.actions} == {*MACROS}


async def test_it_lives_by_goals() -> None:
    """On the second tier: goals begin, succeed and fail, and the log is decided again alike."""
    played, players, world = await asyncio.to_thread(lived, 2)

    assert len(played.acted) >= 3
    assert played.outcomes.count("succeeded") >= 3
    assert world.see.step >= 399
    found = await verified(players.recorded()["golem"])
    assert found.is_identical, found.divergence


def test_chance_lives_as_well_and_alike_twice() -> None:
    """Without a model, to the byte."""
    first, again = lived(0, 90.0)[1], lived(0, 90.0)[1]
    bodies = [
        [each.body for each in one.recorded()["golem"].records]
        for one in (first, again)
    ]
    assert bodies[0] == bodies[1]
