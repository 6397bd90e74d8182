"""Rows of episodes: what happened and what was said then, to be recalled by likeness.

Only where the mind remembers conversations (`memory.prompt_tokens`), and only what was
about an event that it considered, or what a person said; nothing that is hidden from
anybody.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from projections.folds import events
from projections.rows.changes import Patch, Put, Row, json_text, vector_text
from projections.rows.folded_group import Folded
from schemas.codec.envelope import Output
from schemas.messages.decisions import Completed, Decided
from schemas.messages.sensing import Sensed
from schemas.values.prompt_fencing import capped
from schemas.values.vectors import Vector

_CAP = 200
"""How many characters of what happened, and of what was said then, a memory has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Something that happened, and what was said then."""

    id: str
    """The decision's."""
    at: datetime
    source: str
    type: str
    text: str
    said: str | None
    person: str | None
    sequence: int
    similarity: float


def begun(folded: Folded, output: Output, message: Decided) -> list[Put]:
    """Return the row of what a decision was about, with what it said at once."""
    event = folded.input.message
    if not folded.settings.executive.prompt_tokens:
        return []
    # A decision on a due timer comes with an input that is not its occasion.
    if not isinstance(event, Sensed) or message.event_id != folded.input.id:
        return []
    if message.path == "none" and not event.is_persons:
        return []
    # What somebody must not hear is told to nobody, since anybody may be asked.
    declared = events.domain_of(folded.packs, event).event_type
    if declared is not None and declared.hides(event):
        return []
    vector = folded.aids.vector or b""
    is_said = message.final and message.text is not None
    row: Row = {
        "source": event.source,
        "type": event.type,
        "text": event.text,
        "person": event.person if message.claimed is None else message.person,
        "entities": json_text(list(event.entities)),
        "said": message.text if is_said else None,
        "said_sequence": folded.input.sequence if is_said else None,
        "embedding": embedding(vector),
        "embedder": folded.settings.embedder,
        "dimension": len(vector) or None,
        "at": output.at,
        "sequence": folded.input.sequence,
    }
    return [Put("episodes", (folded.name, output.id), row)]


def said(folded: Folded, message: Completed) -> list[Patch]:
    """Return what was said in the end; without effect if the episode is not kept."""
    if not folded.settings.executive.prompt_tokens:
        return []
    values: Row = {"said": message.text, "said_sequence": folded.input.sequence}
    return [Patch("episodes", (folded.name, message.decision_id), values)]


def embedding(vector: Vector) -> str | None:
    """Return a vector as pgvector reads it; None for one like which nothing is."""
    return vector_text(vector) if any(vector) else None


def memorable(
    found: Iterable[Episode], alike: float, limit: int
) -> tuple[Episode, ...]:
    """Return the episodes that are alike enough, the nearest first, each text once.

    Of those with one text the first is taken; `alike` is the least similarity.
    """
    kept: dict[str, Episode] = {}
    for each in found:
        if each.similarity >= alike:
            kept.setdefault(each.text, each)
    return tuple(kept.values())[:limit]


def in_words(episode: Episode) -> str:
    """Return an episode in words: when, who or what, and what was said then."""
    who = episode.person or episode.source
    happened = f"{episode.at:%Y-%m-%d %H:%M} {who}: {capped(episode.text, _CAP)}"
    if not episode.said:
        return happened
    return f"{happened} | you said: {capped(episode.said, _CAP)}"
