"""A mind in memory that is told anything at all, on one state that grows.

Each input is read, answered and folded as a worker does it; a second state is folded from
the bytes of what was said, as a projector does it, and has to stay the same. What must hold
of every input is checked of every input; what is dear is checked of one in a few hundred.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count as counting
from random import Random
from time import process_time
from traceback import extract_tb
from typing import Any
from uuid import UUID

import psutil  # type: ignore[import-untyped]  # has no types

from bench import world
from bench.fuzz.messages import Messages
from echoic.config.load import load, mind_settings
from echoic.embedders import embedder
from echoic.packs import load as packs
from echoic.packs.bundled import PACKS
from handlers.aids import AidProvider, PackLibrary
from handlers.mind import turn as turns
from handlers.mind.turn import Turn
from projections.folds.partition import evolve
from schemas.codec import checkpoint
from schemas.codec.catalogue import OutputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted, PackLoaded
from schemas.messages.decisions import Decided
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.notes import ControlApplied, ControlRefused, Handled, Quarantined
from schemas.packs.manifest import Pack, to_blob
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record, Wire
from schemas.values.settings import CodeDigests, MatchLimits
from schemas.values.subjects import SHARED_AGENT
from tests import invariants
from tests.memory_log import MemoryLog

PARTITION = 3
COMPANIONS = ("ada", "ben", "cleo")
CHARACTERS = {"gol": "golem", "vil": "village", "place": "village/clearing"}
STATE_MB = 112.0
"""What a state of six agents may come to as JSON, whatever they were told. By
`schemas.state.limits` an agent remembers at most 20,000 decisions of 350 bytes, 4,000 pairs of
source and type of 1.8 kB and 2,000 sources of 1.7 kB, which is 17.6 MB; the rest came to .6 MB
after 100,000 inputs."""
RSS_MB = 1_200.0
"""By how much a process may grow: the state, twice, the one before, and its JSON when it is
compared."""
AGAIN = 50
"""One in so many inputs is answered twice, from the same state."""
COMPARED = 50_000
"""After so many inputs the two states are compared, written and read, and the settings
change."""

_ANSWERS = (
    Decided, Quarantined, Handled, FeedbackApplied, FeedbackRefused, ControlApplied,
    ControlRefused,
)  # fmt: skip
_EPOCH = UUID(int=6)
_BEGIN_NS = 1_767_600_000_000_000_000
_FAULTS = 20
_PROFILES: Sequence[dict[str, object]] = (
    {"model.name": "test/model", "learning.formation": "on"},
    {},
    {"strategy": "hybrid", "model.name": "test/model", "goals": ["keep the house warm"],
     "relevance": 0.0, "cooldown_s": 0, "heuristic_cooldown_s": 0},
    {"strategy": "always_llm", "model.name": "test/model", "output.stream": "on",
     "relevance": 0.0, "proactive.check_in": "on"},
)  # fmt: skip
"""Settings in force, in turn: what one of them never reaches another does."""


@dataclass(slots=True)
class Found:
    """What came of a run."""

    inputs: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    """How many inputs were answered by what, one each."""
    kinds: Counter[str] = field(default_factory=Counter)
    """How many inputs of each message came, as they were read."""
    outputs: int = 0
    faults: list[str] = field(default_factory=list)
    """What did not hold, with the input that it did not hold of."""
    state_mb: float = 0.0
    """The most that the state came to, as JSON."""
    rss_mb: float = 0.0
    """By how much the process had grown at most."""
    cpu_s: float = 0.0
    digest: str = ""
    """Of all outputs: the same seed gives the same."""

    def __add__(self, other: "Found") -> "Found":
        """Return two runs as one; a state and a process count alone."""
        return Found(
            self.inputs + other.inputs,
            self.answers + other.answers,
            self.kinds + other.kinds,
            self.outputs + other.outputs,
            self.faults + other.faults,
            max(self.state_mb, other.state_mb),
            max(self.rss_mb, other.rss_mb),
            self.cpu_s + other.cpu_s,
            f"{self.digest} {other.digest}".strip(),
        )

    def judge(self, count: int) -> None:
        """Add as faults what a run of so many inputs does not add up to."""
        if self.inputs != count or self.answers.total() != count:
            answered = self.answers.total()
            self.faults.append(
                f"{count} inputs: {self.inputs} taken, {answered} answered"
            )
        if self.state_mb > STATE_MB:
            self.faults.append(f"a state of {self.state_mb:.1f} MB, over {STATE_MB}")
        if self.rss_mb > RSS_MB:
            self.faults.append(f"a process grew by {self.rss_mb:.0f} MB, over {RSS_MB}")

    def as_fields(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "answers": dict(self.answers.most_common()),
            "kinds": dict(self.kinds.most_common()),
            "faults": self.faults,
            "state_mb": round(self.state_mb, 1),
            "rss_mb": round(self.rss_mb),
            "cpu_s": round(self.cpu_s),
            "digest": self.digest,
        }


def run(count: int, seed: str) -> Found:
    """Tell a mind so many inputs, and return what came of it."""
    return asyncio.run(_Run(seed).told(count))


class _Run:
    """A mind, what it is told, and a second state that only hears what it said."""

    def __init__(self, seed: str) -> None:
        self._rng = Random(f"{seed}/clock")
        agents = (*COMPANIONS, *CHARACTERS)
        self._messages = Messages(seed, PARTITION, agents)
        made = embedder("wordllama")
        self._limits = MatchLimits(
            match=made.limits.match,
            duplicate=made.limits.duplicate,
            endorse=made.limits.endorse,
            goal=made.limits.goal,
        )
        self._digest_of_embedder = made.digest
        self._log = MemoryLog(_EPOCH)
        self._provider = AidProvider(made, PackLibrary(self._log, made))
        self._state = self._folded = PartitionState()
        self._sequences = counting(1)
        self._at_ns = _BEGIN_NS
        self._profiles = 0
        self._hash = blake2b(digest_size=16)
        self._rss_before_mb = _rss_mb()
        self.found = Found()

    async def told(self, count: int) -> Found:
        """Tell it all, and compare the two states now and then."""
        began = process_time()
        await self._begin()
        for number in range(1, count + 1):
            await self._take(self._messages.next(), is_counted=True)
            if number % COMPARED == 0:
                self._compare()
                await self._set_up()
            if len(self.found.faults) >= _FAULTS:
                break
        self._compare()
        self.found.cpu_s = process_time() - began
        self.found.digest = self._hash.hexdigest()
        return self.found

    async def _begin(self) -> None:
        await self._set_up()
        own = {name: packs.load(PACKS / folder) for name, folder in CHARACTERS.items()}
        shared = [world.pack(200), packs.load(PACKS / "survival")]
        for pack in shared:
            await self._load(pack, SHARED_AGENT)
        for agent, pack in own.items():
            await self._load(pack, agent)

    async def _set_up(self) -> None:
        """Tell it the next settings, as a worker does when it starts."""
        profile = _PROFILES[self._profiles % len(_PROFILES)]
        self._profiles += 1
        settings = mind_settings(load(profile, environment={}), self._limits)
        digests = CodeDigests(version="fuzz", embedder=self._digest_of_embedder)
        message = MindStarted(settings=settings, digests=digests)
        await self._say(message, SHARED_AGENT)

    async def _load(self, pack: Pack, agent: str) -> None:
        digest = await self._log.put_blob(to_blob(pack))
        loaded = PackLoaded(name=pack.name, pack_version=pack.version, digest=digest)
        await self._say(loaded, agent)

    async def _say(self, message: MindStarted | PackLoaded, agent: str) -> None:
        id_ = f"own-{next(self._sequences)}"
        wire = write_input(
            message, agent=agent, partition=PARTITION, id_=id_, source="/bench"
        )
        await self._take(wire, is_counted=False)

    async def _take(self, wire: Wire, *, is_counted: bool) -> None:
        """Have one input answered; whatever does not hold is a fault of that input."""
        record = self._record(wire)
        try:
            turn, aids = await self._answered(record)
            self._check(turn, aids)
        # Whatever it is: that nothing escapes is what is tested.
        except Exception as error:  # noqa: BLE001
            where = extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error}"[:500]
            self._fault(f"{what} ({where.name}:{where.lineno})", record)
            return
        self._state = turn.state
        self._messages.learn(turn)
        if is_counted:
            self._count(turn)

    async def _answered(self, record: Record) -> tuple[Turn, Aids]:
        input_ = read_input(record)
        (aids,) = await self._provider.for_inputs([input_])
        return turns.answer(self._state, input_, aids, _EPOCH), aids

    def _check(self, turn: Turn, aids: Aids) -> None:
        """Check that the input has one answer, and that its bytes fold to the same."""
        read = invariants.check_turn(turn, _EPOCH)
        if turn.input.sequence % AGAIN == 0:
            again = turns.answer(self._state, turn.input, aids, _EPOCH)
            assert again.outputs == turn.outputs, "another answer"
        self._folded = evolve(self._folded, turn.input, read, aids)

    def _count(self, turn: Turn) -> None:
        found, answer = self.found, _answer(turn)
        reason, name = getattr(answer, "reason", None), type(answer).__name__
        found.inputs += 1
        found.outputs += len(turn.outputs)
        found.answers[f"{name}({reason})" if reason else name] += 1
        found.kinds[_kind(turn.input)] += 1
        for each in turn.outputs:
            self._hash.update(each.record.subject.encode())
            self._hash.update(each.record.body)

    def _compare(self) -> None:
        """Compare the mind's state with that folded from its words, and weigh both."""
        found, state = self.found, checkpoint.dump(self._state)
        if state != checkpoint.dump(self._folded):
            found.faults.append(f"two states after {found.inputs} inputs")
            self._folded = self._state
        read = checkpoint.load(state)
        if state != checkpoint.dump(read):
            found.faults.append(f"another state is read after {found.inputs} inputs")
        # A worker that starts again goes on from what it reads.
        self._state = read
        found.state_mb = max(found.state_mb, len(state) / 2**20)
        found.rss_mb = max(found.rss_mb, _rss_mb() - self._rss_before_mb)
        print(
            f"{found.inputs:,} inputs, {len(found.faults)} faults, state"
            f" {len(state) / 2**20:.1f} MB, {process_time():.0f} s of CPU",
            file=sys.stderr,
        )

    def _record(self, wire: Wire) -> Record:
        """Return it as the log would hold it: by the broker's clock, which may be set."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.992:
            self._at_ns += rng.randrange(60_000_000)
        elif kind < 0.999:
            self._at_ns += rng.randrange(1, 3_600) * 1_000_000_000
        else:
            self._at_ns += rng.choice((-5, 40 * 86_400)) * 1_000_000_000
        sequence = next(self._sequences)
        return Record(wire.subject, wire.headers, wire.body, sequence, self._at_ns)

    def _fault(self, what: str, record: Record) -> None:
        body = record.body if len(record.body) < 600 else record.body[:600] + b"..."
        at = f"{record.subject!r} {dict(record.headers)!r} {body!r}"
        self.found.faults.append(f"input {self.found.inputs}: {what} at {at}")
        print(self.found.faults[-1], file=sys.stderr)


def _answer(turn: Turn) -> OutputMessage:
    """Return which output answers the input: what timers say stands before it."""
    return next(
        each.message
        for each in turn.outputs
        if isinstance(each.message, _ANSWERS)
        and not (isinstance(each.message, Decided) and each.message.timer is not None)
    )


def _rss_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def _kind(input_: Input) -> str:
    return type(input_.message).__name__
