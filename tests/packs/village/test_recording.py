"""The shipped evening of a world: all layers decide in it, and it is decided the same again."""

from collections import Counter
from pathlib import Path

from echoic.embedders import embedder
from handlers.aids import AidProvider, PackLibrary
from replay.world import verify_world
from schemas.codec.decode import read_input, read_output
from schemas.messages.conversations import ConversationMoved
from schemas.messages.decisions import Decided
from schemas.messages.sensing import Sensed
from streams.session_files.file import SessionFile, read_session, world_of
from streams.session_files.memory_log import SessionLog

EVENING = (
    Path(__file__).parents[3] / "packs" / "village" / "recordings" / "evening.echoic"
)


def members() -> dict[str, SessionFile]:
    """The session of each member, by name."""
    world = world_of(EVENING)
    assert world is not None
    return {name: read_session(EVENING, name) for name in world.members}


async def test_it_is_decided_the_same_again() -> None:
    """Of both villagers and their place, and what they tell each other stems from asks."""
    made = embedder("wordllama")

    def providing(log: SessionLog) -> AidProvider:
        return AidProvider(made, PackLibrary(log, made))

    found = await verify_world(list(members().values()), providing)

    assert found.is_identical, (found.strays, found.whole.divergence)
    assert list(found.members) == ["aria", "bram", "clearing"]
    assert found.told > 50
    assert EVENING.stat().st_size < 1_000_000


def test_all_layers_decide_in_it() -> None:
    """Reflexes, the plan, its executor, talkers, and the place; something is built."""
    layers, moved, built = Counter[str](), 0, Counter[str]()
    for session in members().values():
        for record in session.records:
            if record.subject.endswith((".decided", ".conversation_moved")):
                match read_output(record).message:
                    case Decided(layer=str() as layer):
                        layers[layer] += 1
                    case ConversationMoved():
                        moved += 1
                    case _:
                        pass
            elif record.subject.endswith(".village.body"):
                event = read_input(record).message
                assert isinstance(event, Sensed)
                buildings = event.fields.get("buildings")
                built.update(buildings if isinstance(buildings, dict) else ())
    assert set(layers) == {"reflex", "queue", "executor", "talker", "place"}
    assert min(layers.values()) > 20
    assert moved > 20
    assert {"campfire", "tent"} <= set(built)
