"""Days of the village, answered by minds in memory, without broker or clock."""

import asyncio
from pathlib import Path

from bench.players import MIDNIGHT, Answer, Players
from echoic.packs.load import load
from echoic.world.memory import InMemoryMind
from packs.village import model
from packs.village.sensor.playing import Plan, Played, play
from packs.village.sensor.telling import PLACE
from packs.village.sensor.villager import PEOPLE
from schemas.values.model_settings import ModelSettings
from streams.session_files.file import SessionFile

PACK = Path(__file__).parents[2] / "packs" / "village"
NAMES = tuple(PEOPLE)


class Village:
    """A village, and the minds of those who live there."""

    def __init__(
        self,
        seed: int,
        *,
        characters: int = 6,
        hours: float = 24.0,
        begins_h: float = 6.0,
        has_model: bool = True,
        answer: Answer = model.answer,
    ) -> None:
        """Prepare a village from an hour of its first day; `answer` is the model's."""
        self.plan = Plan(
            names=NAMES[:characters],
            base=MIDNIGHT,
            run=f"village-{seed}",
            seed=seed,
            begins_s=begins_h * 3_600,
            lasts_s=hours * 3_600,
            place=PLACE,
        )
        asked = ModelSettings(name=model.NAME) if has_model else None
        packs = dict.fromkeys(self.plan.names, load(PACK)) | {PLACE: load(PACK / PLACE)}
        self._players = Players(self.plan, packs, asked, answer)

    @property
    def minds(self) -> dict[str, InMemoryMind]:
        """The mind of each villager, by name."""
        return dict(self._players.minds)

    def played(self, plan: Plan | None = None) -> Played:
        """Play it to its end, or another world with the same minds."""
        players = self._players
        players.begin(lambda name: f"{name.capitalize()}'s day in the village")
        played = asyncio.run(play(plan or self.plan, players.publish, players.hear))
        players.end()
        return played

    def recorded(self) -> dict[str, SessionFile]:
        """Return the session of each villager, by name."""
        return self._players.recorded()
