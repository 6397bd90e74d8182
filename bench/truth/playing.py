"""A real game of Crafter, answered by the mind in memory, without broker or clock.

Time is the game's, ids derive from the seed, and delivery is immediate: the same seed and
settings play the same session, byte for byte. It is returned as a session file.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from echoic.packs import load
from echoic.world import memory
from echoic.world.memory import AGENT, BASE, InMemoryMind, Setting
from handlers.effects.delivery import spoken
from handlers.mind.turn import Turn
from packs.survival.sensor.playing import Plan, play
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.messages.results import Delivered
from schemas.values.record import Wire
from schemas.values.settings import MindSettings
from streams.session_files.file import SessionFile

SURVIVAL = Path(__file__).parents[2] / "packs" / "survival"


@dataclass(frozen=True, slots=True)
class Game:
    """One session to play."""

    seed: int
    """Of the world, of the player's obedience, and of every draw of the mind."""
    steps: int
    settings: MindSettings

    @property
    def name(self) -> str:
        """What the session is called."""
        return f"crafter-{self.seed}"


def settings_for(game_seed: int, **changes: object) -> MindSettings:
    """Return the mind's settings in a game, without a model."""
    return memory.settings_for(f"truth-{game_seed}", **changes)


def played(game: Game) -> SessionFile:
    """Play a session from its first second to its last."""
    listening = _Listening(game)
    asyncio.run(listening.play())
    return listening.mind.recorded()


class _Listening:
    """Hears at once what the mind says."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._spoken: list[bytes] = []
        setting = Setting(game.name, "truth", load.load(SURVIVAL), game.settings)
        self.mind = InMemoryMind(setting, self._deliver)

    async def play(self) -> None:
        """Play and listen."""
        game = self._game
        title = game.name
        self.mind.tell(SessionStarted(session_id=title, title=title, clock="event"))
        plan = Plan(agent=AGENT, base=BASE, run=title, steps=game.steps, seed=game.seed)
        await play(plan, self._publish, self._hear)
        self.mind.tell(SessionEnded())

    async def _publish(self, wire: Wire) -> None:
        self.mind.publish(wire)

    async def _hear(self, ids: Sequence[str]) -> Sequence[bytes]:
        heard, self._spoken = self._spoken, []
        return heard

    def _deliver(self, turn: Turn) -> None:
        for output in turn.outputs:
            if isinstance(output.message, DeliveryAsked):
                asked = output.message
                self._spoken.append(spoken(asked))
                self.mind.tell(Delivered(ask_id=output.id, channel=asked.channel))
