"""Playing the village: bodies are published, what minds decide is obeyed."""

from packs import playing
from packs.broker import Publish
from packs.playing import Hear, Plan, Played
from packs.village.sensor.world import World

__all__ = ["Plan", "Played", "play"]


async def play(plan: Plan, publish: Publish, hear: Hear) -> Played:
    """Play a village from its beginning to its end."""
    world = World(str(plan.seed), plan.names, plan.begins_s)
    played = await playing.play(world, plan, publish, hear)
    people = world.scene.people.values()
    played.dead = [each.name for each in people if each.died is not None]
    return played
