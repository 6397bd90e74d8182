"""Reading recorded replies again: where today's reader would have said something else.

Pure, over whole groups in logical order. What a model sent is in the log as it was received,
so that a change of the reader can be judged by what was really sent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from handlers.mind.reply import near_json, reading
from handlers.mind.reply.reading import Said
from handlers.mind.stages import completion
from projections.folds.pending_answers import ASKED_LIMIT
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Dropped
from schemas.messages.results import ModelAnswered, ModelFailed

_READ = ("llm_declined", "llm_malformed", "llm_no_response")
"""Why a decision ends without words though its model sent something."""


@dataclass(frozen=True, slots=True)
class _Reread:
    """A reply that is read otherwise today."""

    decision_id: str
    at: datetime
    recorded: str
    """What was said; or why nothing was, in brackets."""
    today: str
    reply: str
    """The beginning of what the model sent."""


@dataclass(slots=True)
class Rereading:
    """A reading of recorded replies under way, group by group."""

    version: int = near_json.VERSION
    replies: int = 0
    """How many answers for persons were read."""
    found: list[_Reread] = field(default_factory=list)
    _records: DecisionRecords = field(default_factory=DecisionRecords)

    def take(self, input_: Input, outputs: list[Output]) -> None:
        """Read the replies of the decisions that a group ends."""
        for record in self._records.take(input_, outputs):
            for asked, answered in _answers(record):
                self.replies += 1
                was, today = _recorded(record), _today(asked, answered, record.agent)
                if was is not None and was != today:
                    of = _Reread(record.id, record.at, was, today, answered.text[:200])
                    self.found.append(of)


def _answers(record: DecisionRecord) -> Iterator[tuple[ModelAsked, ModelAnswered]]:
    """Yield what models sent as the answer of a decision that has ended."""
    if record.ending is None:
        return
    for answered in record.answers:
        asked = record.asks.get(answered.ask_id)
        if asked is not None and asked.purpose == "answer":
            yield asked, answered


def _recorded(record: DecisionRecord) -> str | None:
    """Return what came of a reply; None if it was not the reply that decided."""
    match record.ending:
        case Completed(path="llm", text=text):
            return text
        case Dropped(reason=reason) if reason in _READ:
            return f"[{reason}]"
        case _:
            return None


def _today(asked: ModelAsked, answered: ModelAnswered, agent: str) -> str:
    acts = bool(asked.acts)
    content = reading.understood(answered, acts=acts)
    if isinstance(content, ModelFailed):
        return f"[{completion.DROPS[content.reason]}]"
    said = reading.words(content, agent, acts=acts)
    if not isinstance(said, Said):
        return f"[{completion.DROPS[said.reason]}]"
    question = asked.occasion[:ASKED_LIMIT]
    is_nonsense = completion.nonsense(content.text, said.words, question) is not None
    return "[llm_declined]" if is_nonsense or not said.words else said.words
