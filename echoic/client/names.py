"""Names of heuristics: given by their packs, by people, or when they were formed."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from echoic.errors import NotFoundError, meant
from schemas.codec.decode import read_input
from schemas.messages.controls import HeuristicEdited, HeuristicSeeded, PackLoaded
from schemas.messages.learning import HeuristicFormed
from schemas.values import naming
from schemas.values.ids import heuristic_id
from schemas.values.lazily import Lazily
from schemas.values.subjects import SHARED_AGENT, input_subject, partition_of
from streams.log import ReadableLog, messages, scan

if TYPE_CHECKING:
    from schemas.packs import manifest
else:
    manifest = Lazily("schemas.packs.manifest")

Names = Mapping[str, str]
"""Names by heuristic id."""


async def heuristic_names(log: ReadableLog, agent: str) -> Names:
    """Return the name of each heuristic that the agent may ever have used, by its id."""
    # In the order of authority: a later name, by an edit, replaces the one given at
    # formation.
    formed = messages(log, HeuristicFormed, agent)
    names = {each.heuristic_id: each.name async for _, each in formed}
    # The agent's own packs come last, as they replace shared ones of the same name.
    for owner in (SHARED_AGENT, agent):
        subjects = input_subject(partition_of(agent), owner, "control", "*")
        async for record in scan(log, subjects):
            await _learn(log, read_input(record).message, names)
    return names


async def _learn(log: ReadableLog, message: object, names: dict[str, str]) -> None:
    match message:
        case HeuristicSeeded(heuristic_id=id_, name=name):
            names[id_] = name
        case HeuristicEdited(heuristic_id=id_, name=str(name)):
            names[id_] = name
        case PackLoaded(digest=digest):
            names.update(await _of_pack(log, digest))
        case _:
            return


async def _of_pack(log: ReadableLog, digest: str) -> dict[str, str]:
    blob = await log.blob(digest)
    if blob is None:
        return {}
    try:
        pack = manifest.from_blob(blob)
    # A pack of another version's format: its heuristics are shown by id.
    except manifest.PackError:
        return {}
    return {heuristic_id(pack.name, each.name): each.name for each in pack.heuristics}


def named(heuristic_id: str | None, names: Names) -> str:
    """Return a heuristic's name, or the first eight characters of its id."""
    if heuristic_id is None:
        return "unknown"
    return names.get(heuristic_id, heuristic_id[:8])


def resolve(names: Names, text: str) -> str:
    """Return the id of the heuristic that is meant by a name, or by how its id begins.

    Raises:
        NotFoundError: there is none, or several.
    """
    called = [id_ for id_ in names if names[id_] == text and id_ != text]
    if text not in names and len(called) == 1:
        return called[0]
    if text not in names and called:
        raise NotFoundError(
            f"{len(called)} heuristics are called {text!r}: {naming.listed(called)}",
            next_step="echoic heuristic list, and give the id",
        )
    try:
        return naming.meant(text, names, "heuristic")
    except naming.AmbiguousNameError as error:
        raise NotFoundError(str(error), next_step="give more of the id") from error
    except naming.UnknownNameError as error:
        raise NotFoundError(
            f"there is no heuristic {text!r}{meant(text, names.values())}",
            next_step="echoic heuristic list",
        ) from error


def meant_id(start: str, ids: Iterable[str], kind: str, *, listed_by: str) -> str:
    """Return the id that is meant, of what people call `kind`.

    Raises:
        NotFoundError: it is none, or several; `listed_by` is the command that shows them.
    """
    try:
        return naming.meant(start, ids, kind)
    except naming.NamingError as error:
        raise NotFoundError(str(error), next_step=listed_by) from error
