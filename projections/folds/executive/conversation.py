"""Fold what is said: the conversation with each person, for prompts and for "why?".

People are told apart: what one says, and what the companion says to one, is in the
conversation with that person alone.
"""

from datetime import datetime

from msgspec.structs import replace

from projections.folds.executive import facts
from schemas.messages.decisions import Completed, Decided
from schemas.messages.sensing import Sensed
from schemas.state import limits
from schemas.state.agent import Pending
from schemas.state.executive import EVERYBODY, Waiting
from schemas.state.memory import Grounds, Happened, Memory, Utterance


def decided(
    memory: Memory,
    decision_id: str,
    message: Decided,
    event: Sensed | None,
    at: datetime,
) -> Memory:
    """Return the memory after a decision: a person's words, and an answer at once.

    Without an event a timer was due.
    """
    speaker = event.speaker if event is not None else None
    if event is not None:
        memory = facts.called(memory, event.person, event.called)
    if event is not None and speaker is not None:
        words = Utterance(decision_id=decision_id, at=at, text=cut(event.text))
        memory = _with(memory, speaker, words)
    if not message.final or not message.text:
        return memory
    said = Utterance(
        decision_id=decision_id,
        at=at,
        text=cut(message.text),
        grounds=_grounds(message, event.text if event is not None else ""),
        is_question=_asks(message.response_type, message.text),
    )
    return _with(memory, speaker or message.person, said)


def completed(
    memory: Memory,
    message: Completed,
    pending: Pending | None,
    held: Waiting | None,
    at: datetime,
) -> Memory:
    """Return the memory after an answer that took its time."""
    grounds = Grounds(
        path=message.path,
        about=pending.heard if pending else held.heard if held else "",
        heuristic_id=message.matched_heuristic_id
        if message.path == "heuristic"
        else None,
        similarity=held.heuristic.similarity if held and held.heuristic else None,
        confidence=message.predicted_success,
        model=message.model,
        # Only of a reminder it is kept who asked for it.
        sort="reminder" if held and held.answer.asked_by else "",
        others=len(message.also_answers),
    )
    said = Utterance(
        decision_id=message.decision_id,
        at=at,
        text=cut(message.text),
        grounds=grounds,
        is_question=_asks(message.response_type, message.text),
    )
    whom = (pending.speaker or pending.person) if pending is not None else None
    return _with(memory, whom or (held.answer.person if held else None), said)


def happened(memory: Memory, event: Sensed, at: datetime) -> Memory:
    """Return the memory with a sensor's event among the latest of its source."""
    text = event.text.strip()[: limits.EVENT_TEXT]
    if event.is_persons or not text:
        return memory
    new = Happened(at=at, text=text, person=event.person)
    known = (*memory.events.get(event.source, ()), new)[-limits.EVENT_TEXTS :]
    return replace(memory, events=memory.events.set(event.source, known))


def latest_events(memory: Memory, event: Sensed) -> tuple[Happened, ...]:
    """Return the latest events before one, of its source; of all before a person's words.

    What concerned somebody else is left out.
    """
    sources = memory.events.sorted_keys() if event.is_persons else (event.source,)
    known = (each for source in sources for each in memory.events.get(source, ()))
    told = (each for each in known if each.person in (None, event.person))
    # Stable: what came at one time stays in its order.
    return tuple(sorted(told, key=lambda each: each.at))[-limits.EVENT_TEXTS :]


def with_person(memory: Memory, person: str | None) -> tuple[Utterance, ...]:
    """Return the conversation with a person, what was said to everybody in its place."""
    own = memory.said.get(person, ()) if person is not None else ()
    both = (*memory.said.get(EVERYBODY, ()), *own)
    # Stable: what was said at one time stays in its order.
    return tuple(sorted(both, key=lambda each: each.at))[-limits.UTTERANCES :]


def last_said(memory: Memory, person: str | None) -> Utterance | None:
    """Return what the companion said last to a person or everybody."""
    talk = with_person(memory, person)
    return next((each for each in reversed(talk) if each.grounds is not None), None)


def pending_question(memory: Memory, person: str | None) -> Utterance | None:
    """Return the companion's question that a person has not said anything to yet."""
    last = with_person(memory, person)[-1:]
    return last[0] if last and last[0].is_question else None


def cut(text: str) -> str:
    """Return as much of a text as is remembered."""
    return text if len(text) <= limits.UTTERANCE else f"{text[: limits.UTTERANCE - 1]}…"


def _with(memory: Memory, person: str | None, said: Utterance) -> Memory:
    whom = person or EVERYBODY
    talk = (*memory.said.get(whom, ()), said)[-limits.UTTERANCES :]
    return replace(memory, said=memory.said.set(whom, talk))


def _grounds(message: Decided, about: str) -> Grounds:
    arm = next((each for each in message.candidates if each.arm == message.arm), None)
    return Grounds(
        path=message.path,
        about=cut(about),
        heuristic_id=message.matched_heuristic_id,
        similarity=arm.similarity if arm is not None else None,
        confidence=arm.confidence if arm is not None else None,
        sort=message.type if message.path == "proactive" else "",
    )


def _asks(response_type: str | None, text: str) -> bool:
    return response_type == "question" or text.rstrip().endswith("?")
