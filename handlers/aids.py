"""Aids: the vectors and packs that the mind needs for its inputs, made by the shell.

Worker, projector and replay make them in the same way. A vector that another machine might
not compute again is recorded with the decision, and read from there.
"""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

import orjson
from msgspec.structs import replace

from handlers.mind.needs import Needs, needs_of
from schemas.codec.decode import read_input
from schemas.codec.envelope import Input
from schemas.messages.controls import PackLoaded
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlRefused, Quarantined
from schemas.packs.compiled import CompiledPack, compile_embedded, texts_of
from schemas.packs.manifest import PackError, from_blob
from schemas.ports import faults
from schemas.ports.aids import Aids, embedded
from schemas.state.agent import PartitionState
from schemas.values import subjects
from schemas.values.record import Record
from schemas.values.vectors import Embedder, Vector, VectorBatch
from streams.errors import LogDamaged, StreamsError
from streams.groups import Group
from streams.log import ReadableLog

GROUPS_AT_ONCE = 64
"""For how many recorded groups aids are made together: one call of the embedder each."""

_HARMLESS = "dusk"
"""A text that any working embedder can embed: it tells a bad text from a bad embedder."""

_NONE: Mapping[str, Vector] = {}


class PackLibrary:
    """Packs of the log's blob store, compiled once and kept for the life of the process."""

    def __init__(self, log: ReadableLog, embedder: Embedder) -> None:
        """Read blobs from `log` and embed conditions with `embedder`."""
        self._log = log
        self._embedder = embedder
        self._packs: dict[str, CompiledPack] = {}

    @property
    def packs(self) -> Mapping[str, CompiledPack]:
        """Every pack fetched so far, by digest."""
        return self._packs

    async def fetch(self, digests: Iterable[str]) -> None:
        """Fetch and compile these packs; leave out one without a readable blob.

        Of an input that refers to one that is left out, the mind makes a refusal.
        """
        for digest in digests:
            if digest in self._packs:
                continue
            blob = await self._log.blob(digest)
            if blob is None:
                continue
            try:
                # Embedding all conditions of a large pack would hold up the event loop.
                compiled = await asyncio.to_thread(_compiled, blob, self._embedder)
            # The mind refuses the control that loads it, and the log says so.
            except PackError:
                continue
            # A new mapping: aids that were brought earlier stay what they were.
            self._packs = {**self._packs, digest: compiled}


class AidProvider:
    """Makes the aids of inputs, with one embedder and one library of packs."""

    def __init__(self, embedder: Embedder, library: PackLibrary) -> None:
        """Embed with `embedder` and take packs from `library`."""
        self._embedder = embedder
        self._library = library

    async def for_inputs(
        self, inputs: Sequence[Input], shed: Sequence[bool] = ()
    ) -> list[Aids]:
        """Return the aids of inputs, in their order; their texts are embedded in one call.

        `shed` says, in order, which inputs exceed their source's rate: of these nothing is
        embedded. Without it none do.
        """
        return await self._bring_all(inputs, [None] * len(inputs), shed)

    async def for_recorded(
        self, answered: AsyncIterator[Group]
    ) -> AsyncIterator[tuple[Group, Input, Aids]]:
        """Yield recorded groups with their decoded inputs and the aids these had then.

        Raises:
            LogDamaged: after all that stands before the damage.
        """
        few: list[Group] = []
        try:
            async for group in answered:
                few.append(group)
                if len(few) == GROUPS_AT_ONCE:
                    for brought in await self._recorded(few):
                        yield brought
                    few = []
        except LogDamaged:
            # What stands before the damage is sound, and must be folded before the error.
            for brought in await self._recorded(few):
                yield brought
            raise
        for brought in await self._recorded(few):
            yield brought

    async def _recorded(
        self, groups: Sequence[Group]
    ) -> list[tuple[Group, Input, Aids]]:
        inputs = [read_input(group.input) for group in groups]
        # An exact embedder gives the same bytes everywhere, so only others need the record.
        known = [
            None if self._embedder.exact else _recorded_vector(group.outputs)
            for group in groups
        ]
        shed = [_was_shed(group.outputs[0]) for group in groups]
        brought = await self._bring_all(inputs, known, shed)
        return [
            (group, input_, _as_it_was(group, input_, aids))
            for group, input_, aids in zip(groups, inputs, brought, strict=True)
        ]

    async def vectors_of(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of texts, in order."""
        return await self._embed(texts)

    @property
    def alike(self) -> float:
        """The cosine from which a text is about what another is about."""
        return self._embedder.limits.goal

    async def fetch_packs_of(self, state: PartitionState) -> None:
        """Fetch every pack that a state refers to."""
        shelves = [state.shared.packs, *(each.packs for each in state.agents.values())]
        await self._library.fetch(
            sorted({ref.digest for shelf in shelves for ref in shelf.values()})
        )

    async def _bring_all(
        self,
        inputs: Sequence[Input],
        known: Sequence[Vector | None],
        shed: Sequence[bool],
    ) -> list[Aids]:
        if not any(shed):
            return await self._bring(inputs, known)
        # Embedded without those that are shed, then put back in the order of the inputs.
        kept = [place for place, is_shed in enumerate(shed) if not is_shed]
        brought = await self._bring(
            [inputs[place] for place in kept], [known[place] for place in kept]
        )
        nothing = Aids(None, self._library.packs, self._embedder.exact)
        by_place = dict(zip(kept, brought, strict=True))
        return [by_place.get(place, nothing) for place in range(len(inputs))]

    async def _bring(
        self, inputs: Sequence[Input], known: Sequence[Vector | None]
    ) -> list[Aids]:
        """Return the aids of inputs; one whose text fails carries the fault in its aids."""
        try:
            return await self._brought(inputs, known)
        # The broker's failures and this machine's are waited for, and blamed on no input.
        except StreamsError:
            raise
        except faults.OF_THE_SHELL:
            raise
        except faults.OF_AN_INPUT as error:
            if len(inputs) == 1:
                return [await self._faulty(faults.named(error))]
        # The batch failed as a whole: one by one shows which text is at fault.
        alone = [
            await self._bring([input_], [vector])
            for input_, vector in zip(inputs, known, strict=True)
        ]
        return [aids for (aids,) in alone]

    async def _faulty(self, fault: str) -> Aids:
        """Return aids that carry the fault of an input.

        Raises whatever the embedder raises of a harmless text: then no input is to blame.
        """
        await self._embed([_HARMLESS])
        return Aids(None, self._library.packs, self._embedder.exact, fault=fault)

    async def _brought(
        self, inputs: Sequence[Input], known: Sequence[Vector | None]
    ) -> list[Aids]:
        """Make the aids of inputs; a vector that is known already is not computed again."""
        loaded = (needs_of(input_).pack_digest for input_ in inputs)
        await self._library.fetch(digest for digest in loaded if digest)
        packs = self._library.packs.values()
        # A vector that was recorded is that of what the event said by its pack.
        needs = [
            needs_of(input_, packs if vector is None else ())
            for input_, vector in zip(inputs, known, strict=True)
        ]
        texts = [
            need.text
            for need, vector in zip(needs, known, strict=True)
            if vector is None and need.text is not None
        ]
        further = [embedded(text) for need in needs for text in need.further]
        made = await self._embed([*texts, *further])
        # The own texts come first in `made`, in the order of the inputs; further texts
        # after.
        fresh, rest = iter(made), dict(zip(further, made[len(texts) :], strict=True))
        vectors = [
            vector or (None if need.text is None else next(fresh))
            for need, vector in zip(needs, known, strict=True)
        ]
        # Shared by all inputs of the batch: products with a pack are made for all at once.
        batch = VectorBatch([vector for vector in vectors if vector is not None])
        by_digest, is_exact = self._library.packs, self._embedder.exact
        return [
            Aids(vector, by_digest, is_exact, batch, _of(need, rest))
            for need, vector in zip(needs, vectors, strict=True)
        ]

    async def _embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if not texts:
            return ()
        # It does no I/O, and is quicker than a thread is to start.
        if self._embedder.exact:
            return self._embedder.embed(texts)
        # Such an embedder may wait for the network or work for long.
        return await asyncio.to_thread(self._embedder.embed, texts)


def _of(need: Needs, made: Mapping[str, Vector]) -> Mapping[str, Vector]:
    """Return the vectors of an input's further texts; most inputs have none."""
    if not need.further:
        return _NONE
    return {text: made[text] for text in map(embedded, need.further)}


def _compiled(blob: bytes, embedder: Embedder) -> CompiledPack:
    pack = from_blob(blob)
    return compile_embedded(pack, embedder.embed(texts_of(pack)))


def _as_it_was(group: Group, input_: Input, aids: Aids) -> Aids:
    """Return the aids as they were when the input was answered.

    A pack whose blob was missing then is left out, though the store may hold it by now.
    """
    if not isinstance(input_.message, PackLoaded):
        return aids
    first = group.outputs[0]
    was_refused = subjects.parse(first.subject).detail == ControlRefused.token
    if not was_refused or orjson.loads(first.body).get("reason") != "unknown_pack":
        return aids
    missing = input_.message.digest
    return replace(
        aids, packs={key: aids.packs[key] for key in aids.packs if key != missing}
    )


def _was_shed(output: Record) -> bool:
    """Tell whether a recorded answer says that its input exceeded its source's rate."""
    # The subject is tested first: decoding each recorded body would be the dearest step.
    is_kept = subjects.parse(output.subject).detail == Quarantined.token
    return is_kept and orjson.loads(output.body).get("reason") == "rate"


def _recorded_vector(outputs: Sequence[Record]) -> Vector | None:
    """Return the vector that a decision holds because no other machine might compute it."""
    for output in outputs:
        if subjects.parse(output.subject).detail == Decided.token:
            embedding = orjson.loads(output.body).get("embedding")
            return b64decode(embedding) if embedding else None
    return None
