"""What a closed-loop run recalls: as recorded, or an estimate from the recording itself."""

from collections.abc import Iterable

from msgspec.structs import replace

from handlers.aids import AidProvider
from projections.rows.episodes import in_words, memorable
from replay.closed_loop.history import Recollection
from replay.recording.decisions import DecisionRecord
from replay.recording.likeness import is_episode, nearest
from schemas.messages.asks import RecallAsked
from schemas.messages.results import Recalled, RecallFailed


def answer_of(
    ask_id: str, asked: RecallAsked, known: Recollection | None
) -> Recalled | RecallFailed | None:
    """Return what the memory answered to the same at the same event; None if nothing."""
    if known is None or known.result is None or known.asked.query != asked.query:
        return None
    return replace(known.result, ask_id=ask_id)


async def estimated(
    ask_id: str,
    asked: RecallAsked,
    earlier: Iterable[DecisionRecord],
    provider: AidProvider,
) -> Recalled:
    """Return what an exact scan finds among earlier decisions of the recorded run.

    What was before the recording is not among them, and words are those said there.
    """
    kept = [each for each in earlier if is_episode(each) and _may_tell(each, asked)]
    query, *made = await provider.vectors_of([asked.query, *(e.text for e in kept)])
    found = memorable(nearest(kept, made, query), provider.alike, asked.limit)
    return Recalled(
        ask_id=ask_id,
        ids=tuple(each.id for each in found),
        texts=tuple(map(in_words, found)),
        as_of=max((each.sequence for each in kept), default=0),
    )


def _may_tell(record: DecisionRecord, asked: RecallAsked) -> bool:
    return record.event is not None and record.event.person in (None, asked.person)
