"""Hours in the café on one of the four tiers, answered by a mind in memory."""

import asyncio

from bench.players import MIDNIGHT, Players
from echoic.packs import bundled
from echoic.packs.load import load
from packs.golem import model
from packs.golem.sensor.world import World
from packs.playing import Plan, Played, play
from schemas.packs.autonomous import Improvement, Tier
from schemas.packs.manifest import Pack
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import StrategySpec
from streams.session_files.file import SessionFile

NAME = "golem"
TIERS: tuple[Tier, ...] = (0, 1, 2, 3)


class Cafe:
    """A café of a seed, and the mind of who lives there."""

    def __init__(
        self,
        seed: int,
        tier: Tier,
        *,
        hours: float = 24.0,
        begins_h: float = 8.0,
        has_model: bool = True,
    ) -> None:
        """Prepare a café from an hour of its first day; the strategy sets the tier."""
        self.plan = Plan(
            names=(NAME,),
            base=MIDNIGHT,
            run=f"cafe-{seed}",
            seed=seed,
            begins_s=begins_h * 3_600,
            lasts_s=hours * 3_600,
        )
        asked = ModelSettings(name=model.NAME) if has_model and tier else None
        packs = {NAME: _pack(tier)}
        strategy = StrategySpec(name="layers", parameters={"tier": tier})
        self._players = Players(self.plan, packs, asked, model.answer, strategy)
        self.mind = self._players.minds[NAME]

    def played(self, world: World | None = None) -> Played:
        """Play it to its end, or another world with the same mind."""
        players, plan = self._players, self.plan
        world = world or World(str(plan.seed), NAME, plan.begins_s)
        players.begin(lambda _: "Golem in the café")
        played = asyncio.run(play(world, plan, players.publish, players.hear))
        players.end()
        return played

    def recorded(self) -> SessionFile:
        """Return the session."""
        return self._players.recorded()[NAME]


def _pack(tier: Tier) -> Pack:
    """Return the golem's pack; on the third tier what held-out actions speak for applies."""
    pack = load(bundled.PACKS / "golem")
    if tier < max(TIERS) or pack.mind is None or pack.mind.autonomous is None:
        return pack
    improvement = Improvement(apply="held_out")
    how = pack.mind.autonomous.model_copy(update={"improvement": improvement})
    mind = pack.mind.model_copy(update={"autonomous": how})
    return pack.model_copy(update={"mind": mind})
