"""The scene of a running instance: characters as they are, and each group from there on."""

from collections.abc import AsyncIterator

from echoic.client import known_agents
from echoic.client.connection import Connection
from echoic.client.state import partition_at
from echoic.embedders import embedder
from echoic.scene.figures import Happening
from echoic.scene.scene import Scene
from replay.recording.in_force import InForce, in_force_before, with_packs
from schemas.codec.decode import read_input, read_output
from schemas.values.subjects import is_agent
from streams.jetstream.checkpoints import JetStreamCheckpoints
from streams.live_groups import GroupJoiner
from streams.log import After
from streams.topology import LOG_SUBJECTS

_AT_ONCE = 500
"""Records in one batch from the broker at most."""

_WAITING = 2_000
"""So many records back it is looked for inputs that wait for their answer."""


class LiveScene:
    """A scene that follows the log of an instance."""

    def __init__(self, connection: Connection) -> None:
        """Follow over this connection, which the caller closes."""
        self.scene = Scene()
        self._connection = connection
        self._after: After = 0
        self._folded: dict[int, int] = {}
        """The last input that is in the scene already, by partition."""
        self._packs_of: set[str] = set()

    async def begin(self) -> None:
        """Read how everybody is now."""
        connection, scene = self._connection, self.scene
        partitions = await known_agents.inputs_by_partition(connection.client)
        made = embedder(connection.settings["embedder"])
        ends = await connection.log.ends(LOG_SUBJECTS)
        # Inputs that waited for their answer then must be read, too.
        self._after = tuple(max(end - _WAITING, 0) for end in ends)
        for partition in sorted(partitions):
            checkpoints = JetStreamCheckpoints(
                connection.client, connection.log.keyring
            )
            state = await partition_at(
                connection.log, partition, made, checkpoints=checkpoints
            )
            self._folded[partition] = state.position
            for agent in sorted(state.agents):
                known = state.agents[agent]
                in_force = await with_packs(InForce.of(state, agent), connection.log)
                if any(each.pack.mind is not None for each in in_force.packs):
                    scene.know(agent, in_force.packs)
                    scene.begin(agent, known.character)
                    if scene.at is None or (known.now and known.now > scene.at):
                        scene.at = known.now
                self._packs_of.add(agent)

    async def happenings(self) -> AsyncIterator[list[Happening]]:
        """Yield what each further group of a character tells, as it comes."""
        joiner, log = GroupJoiner(), self._connection.log
        async for records in log.follow(LOG_SUBJECTS, self._after, _AT_ONCE):
            for record in records:
                group = joiner.take(record)
                if group is None:
                    continue
                input_ = read_input(group.input)
                if input_.sequence <= self._folded.get(input_.partition, 0):
                    continue
                if await self._is_character(input_.agent):
                    outputs = list(map(read_output, group.outputs))
                    yield self.scene.take(input_, outputs)

    async def _is_character(self, agent: str) -> bool:
        if agent not in self._packs_of and is_agent(agent):
            in_force = await in_force_before(self._connection.log, agent)
            if in_force.packs:
                self._packs_of.add(agent)
                if any(each.pack.mind is not None for each in in_force.packs):
                    self.scene.know(agent, in_force.packs)
        return agent in self.scene.figures
