"""How near the heuristics came that a decision did not even weigh: their likeness to it.

A decision records the heuristics whose condition is like the event's text. Whoever asks why
it was quiet wants to hear of the others, too, and of the limit.
"""

from dataclasses import dataclass

from echoic.client.connection import Connection
from echoic.client.watch import settings_in_force
from replay.recording.decisions import DecisionRecord
from schemas.codec.decode import read_input
from schemas.messages.controls import HeuristicEdited, HeuristicSeeded, PackLoaded
from schemas.messages.learning import HeuristicFormed
from schemas.values.subjects import SHARED_AGENT, input_subject, partition_of
from streams.log import ReadableLog, messages, scan

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Near:
    """A heuristic of the event's domain that was not alike enough."""

    name: str
    likeness: float
    limit: float
    """From which on it would have been weighed."""

    def __str__(self) -> str:
        return f"{self.name} {self.likeness:.2f} < {self.limit:.2f}"


async def nearest(connection: Connection, record: DecisionRecord) -> tuple[Near, ...]:
    """Return the most alike heuristics of a silence that had none to weigh, nearest first."""
    decided = record.decided
    has_any = any(each.similarity is not None for each in decided.candidates)
    is_charactered = decided.layers is not None
    if record.event is None or not record.silence or has_any or is_charactered:
        return ()
    known = await _conditions(connection.log, record.agent, decided.domain)
    if not known:
        return ()
    # Imported here: they take longer to load than most explanations do to make.
    from echoic.embedders import embedder
    from schemas.values.vectors import cosine

    made = embedder(connection.settings["embedder"])
    own, *others = made.embed([record.event.text, *known.values()])
    log, partition = connection.log, partition_of(record.agent)
    limit = (await settings_in_force(log, partition)).limits.match
    rows = (
        Near(name, cosine(own, other), limit)
        for name, other in zip(known, others, strict=True)
    )
    # One that is alike by now was taught, or loaded, after the decision.
    under = (each for each in rows if each.likeness < limit)
    return tuple(sorted(under, key=lambda each: -each.likeness)[:_SHOWN])


async def _conditions(log: ReadableLog, agent: str, domain: str) -> dict[str, str]:
    """Return the conditions of a domain's heuristics by their names, without folding."""
    names: dict[str, str] = {}
    found: dict[str, str] = {}
    async for _, each in messages(log, HeuristicFormed, agent):
        if each.domain == domain:
            names[each.heuristic_id], found[each.heuristic_id] = (
                each.name,
                each.condition,
            )
    for owner in (SHARED_AGENT, agent):
        subjects = input_subject(partition_of(agent), owner, "control", "*")
        async for record in scan(log, subjects):
            match read_input(record).message:
                case HeuristicSeeded() as taught if taught.domain == domain:
                    id_ = taught.heuristic_id
                    names[id_], found[id_] = taught.name, taught.condition
                case HeuristicEdited(heuristic_id=id_, condition=str(text)):
                    if id_ in found:
                        found[id_] = text
                case PackLoaded(name=name, digest=digest) if name == domain:
                    found |= await _of_pack(log, digest)
                case _:
                    pass
    return {names.get(id_, id_): found[id_] for id_ in found}


async def _of_pack(log: ReadableLog, digest: str) -> dict[str, str]:
    from schemas.packs import manifest

    blob = await log.blob(digest)
    if blob is None:
        return {}
    try:
        pack = manifest.from_blob(blob)
    # A pack of another version's format.
    except manifest.PackError:
        return {}
    return {each.name: each.condition for each in pack.heuristics}
