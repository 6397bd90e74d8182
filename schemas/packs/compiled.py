"""Packs compiled for use: one is shared by all agents that load it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import orjson

from schemas.packs import conditions
from schemas.packs.conditions import ParsedWhen
from schemas.packs.constraints import Constraints, within
from schemas.packs.event_types import EventType
from schemas.packs.manifest import Heuristic, Pack, PackError, blob_digest, to_blob
from schemas.state.taught import Taught
from schemas.values import vectors
from schemas.values.ids import digest, heuristic_id
from schemas.values.unicode_text import quoted
from schemas.values.vectors import Matrix, Vector


@dataclass(frozen=True, eq=False, kw_only=True)
class CompiledPack:
    """A pack ready for use; row `n` of everything belongs to its `n`-th heuristic.

    Compared by identity (`eq=False`), since memos key on it.
    """

    pack: Pack
    digest: str
    """The sha256 of its blob."""
    ids: tuple[str, ...]
    content_hashes: tuple[str, ...]
    """By row: evidence is kept under id and content hash together."""
    whens: tuple[ParsedWhen | None, ...]
    vectors: tuple[Vector, ...]
    """Of the conditions, by row."""
    conditions: Matrix
    """The same vectors, ready to be multiplied."""
    action_vectors: tuple[Vector, ...]
    """Of what the heuristics say, by row; empty if they were not embedded."""
    fields_named: tuple[str, ...]
    """Every field that some `when` names, sorted."""
    constraints: tuple[Constraints, ...]
    """Each heuristic's own, or its pack's, by row; empty if there are none."""
    rows: Mapping[str, int]
    """By heuristic id."""
    event_types: Mapping[tuple[str, str | None], EventType]
    """By type and source; None is any source."""

    @cached_property
    def actions(self) -> Matrix:
        """The vectors of the heuristics' texts, ready to be multiplied: 1 kB a heuristic.

        Made on first use: only a model's words are compared with them, and many workers ask
        no model.
        """
        return vectors.stack(self.action_vectors)

    @cached_property
    def heuristics(self) -> tuple[Taught, ...]:
        """Its heuristics, by row, in the form of those that an agent was taught."""
        actions = self.action_vectors or (b"",) * len(self.ids)
        embedded = zip(self.vectors, actions, strict=True)
        named = zip(self.ids, self.content_hashes, embedded, strict=True)
        return tuple(
            Taught(
                heuristic_id=id_,
                name=each.name,
                domain=self.pack.name,
                condition=each.condition,
                when=each.when,
                response_type=each.action.type,
                text=each.action.text,
                action=each.action.action,
                confidence=each.confidence,
                urgency=each.urgency,
                content_hash=content,
                vector=vector,
                action_vector=action_vector,
                origin="skill_pack",
                origin_id=f"{self.pack.name}@{self.pack.version}",
            )
            for (id_, content, (vector, action_vector)), each in zip(
                named, self.pack.heuristics, strict=True
            )
        )

    @cached_property
    def triggers(self) -> tuple[str, ...]:
        """What an event must mention for each of the outcome patterns to be expected."""
        return tuple(
            each.trigger_pattern for each in self.pack.executive.outcome_patterns
        )

    def row_of(self, heuristic_id: str) -> int | None:
        """Return the row of a heuristic, None if it is not of this pack."""
        return self.rows.get(heuristic_id)

    def when(self, row: int) -> ParsedWhen | None:
        """Return what must hold of an event besides its meaning, by row."""
        return self.whens[row]

    def event_type(self, type_: str, source: str) -> EventType | None:
        """Return how the pack declares such an event: for this source, else for any."""
        of_source = self.event_types.get((type_, source))
        return of_source or self.event_types.get((type_, None))


def texts_of(pack: Pack) -> tuple[str, ...]:
    """Return the texts of a pack to embed: all conditions in order, then all answers."""
    return (
        *(each.condition for each in pack.heuristics),
        *(each.action.text for each in pack.heuristics),
    )


def compile_embedded(pack: Pack, of_texts: Sequence[Vector]) -> CompiledPack:
    """Compile a pack, given the vectors of its `texts_of`.

    Raises:
        PackError: there is not one vector of one dimension per text.
    """
    count = len(pack.heuristics)
    return compile_pack(pack, of_texts[:count], of_texts[count:])


def compile_pack(
    pack: Pack,
    condition_vectors: Sequence[Vector],
    action_vectors: Sequence[Vector] | None = None,
) -> CompiledPack:
    """Compile a pack, given the vectors of its conditions in order.

    Without those of its answers, no text can be found to say the same as one of them.

    Raises:
        PackError: there is not one vector of one dimension per heuristic.
    """
    _check_count(pack, "condition", condition_vectors)
    if action_vectors is not None:
        _check_count(pack, "action", action_vectors)
    ids = tuple(heuristic_id(pack.name, each.name) for each in pack.heuristics)
    whens = tuple(
        conditions.parse(each.when) if each.when is not None else None
        for each in pack.heuristics
    )
    named = {name for when in whens if when for name in conditions.fields_named(when)}
    return CompiledPack(
        pack=pack,
        digest=blob_digest(to_blob(pack)),
        ids=ids,
        content_hashes=tuple(content_hash(each) for each in pack.heuristics),
        whens=whens,
        vectors=tuple(condition_vectors),
        conditions=vectors.stack(condition_vectors),
        action_vectors=tuple(action_vectors or ()),
        fields_named=tuple(sorted(named)),
        constraints=_constraints(pack),
        rows={id_: row for row, id_ in enumerate(ids)},
        event_types={(event.type, event.source): event for event in pack.events},
    )


def _constraints(pack: Pack) -> tuple[Constraints, ...]:
    rows = tuple(within(each.constraints, pack.constraints) for each in pack.heuristics)
    # Empty for nearly all packs, which spares a row for each of their heuristics.
    return rows if any(each != Constraints() for each in rows) else ()


def _check_count(pack: Pack, of: str, given: Sequence[Vector]) -> None:
    if len(given) != len(pack.heuristics):
        raise PackError(
            f"pack {quoted(pack.name)} has {len(pack.heuristics)} heuristics and got "
            f"{len(given)} vectors: embed each {of} once, in order"
        )


def content_hash(heuristic: Heuristic) -> str:
    """Return the hash of condition, `when` and action, under which evidence is kept.

    Renaming a heuristic or declaring another confidence keeps what it earned; another
    content begins anew.
    """
    # Defaults are left out: a field that is added later must not change recorded hashes.
    content = heuristic.model_dump(
        mode="json", include={"condition", "when", "action"}, exclude_defaults=True
    )
    return digest(orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
