"""What models were asked for a decision, what they sent, and what was read of it.

Pure, over what the log recorded: a reply stands there as it was received.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from handlers.mind.reply import reading
from replay.recording.decisions import DecisionRecord
from schemas.messages.asks import ModelAsked
from schemas.messages.results import ModelAnswered, ModelFailed, TriedModel
from schemas.values.model_settings import chain_in_words


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as it was received, and what is read of it."""

    content: str
    reasoning: str
    """What the model thought, apart or within the content."""
    finish_reason: str | None
    tool_calls: str | None
    refusal: str | None
    said: str | None
    """What a person may hear of it; None: nothing, or it was no answer for a person."""
    fault: str | None
    """Why it cannot be used; None: it can, as far as its form goes."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of a model, and its reply."""

    ask_id: str
    purpose: str
    model: str
    system: str
    prompt: str
    reply: Reply | None
    """None: none came, or none yet."""
    turns: tuple[tuple[str, str], ...] = ()
    """What was said before: `user` or `assistant`, and the words."""
    tried: tuple[TriedModel, ...] = ()
    """Of a chain: the models that were asked before the one that sent the reply."""


def exchanges(record: DecisionRecord) -> tuple[Exchange, ...]:
    """Return the calls for a decision, in order."""
    return tuple(_exchanges(record))


def _exchanges(record: DecisionRecord) -> Iterator[Exchange]:
    answers = {each.ask_id: each for each in record.answers}
    for id_, asked in record.asks.items():
        answered = answers.get(id_)
        yield Exchange(
            ask_id=id_,
            purpose=asked.purpose,
            model=_model(asked, answered),
            system=asked.system,
            prompt=asked.prompt,
            turns=tuple((each.role, each.text) for each in asked.turns or ()),
            reply=_reply(answered, asked, record.agent)
            if answered is not None
            else None,
            tried=(answered.attempts or ()) if answered is not None else (),
        )


def _model(asked: ModelAsked, answered: ModelAnswered | None) -> str:
    """Return the model whose reply it is; of a chain without one all of its models."""
    link = answered.link if answered is not None else None
    return link or chain_in_words(asked.model)


def _reply(answered: ModelAnswered, asked: ModelAsked, agent: str) -> Reply:
    said, fault = _read(answered, asked, agent)
    return Reply(
        content=answered.text,
        reasoning=reading.thought(answered),
        finish_reason=answered.finish_reason,
        tool_calls=answered.tool_calls,
        refusal=answered.refusal,
        said=said,
        fault=fault,
    )


def _read(
    answered: ModelAnswered, asked: ModelAsked, agent: str
) -> tuple[str | None, str | None]:
    acts = bool(asked.acts)
    content = reading.understood(answered, acts=acts)
    if isinstance(content, ModelFailed):
        return None, content.detail
    if asked.purpose != "answer":
        return None, None
    said = reading.words(content, agent, acts=acts)
    return (said.words, None) if isinstance(said, reading.Said) else (None, said.detail)
