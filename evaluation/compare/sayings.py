"""Set what a challenger says beside what was said: for one that differs in its voice.

Words by templates are facts as long as nothing was said otherwise. From then on the recorded
inputs are those of people who heard other words, so all that follows is predicted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evaluation.compare.charts import Kind
from replay.closed_loop.decision import ClosedLoopDecision
from replay.recording.decisions import DecisionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What one side made of one occasion."""

    text: str | None
    """What it said; None: nothing, or a model's words that are not known."""
    response_type: str | None = None
    """Of what was said, whether its words are known or not."""
    silence: str | None = None
    """Why it said nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What the two sides make of one occasion."""

    session: str
    sequence: int
    event: str
    baseline: Utterance | None
    """None: there was no such occasion."""
    challenger: Utterance
    kind: Kind
    """`predicted` once something was said otherwise."""

    @property
    def is_other(self) -> bool:
        """Whether the two say something else, as far as known."""
        return self.baseline is not None and self.baseline.text != self.challenger.text


def sayings(decisions: Iterable[ClosedLoopDecision]) -> Iterator[Saying]:
    """Yield what was made of each occasion of one session, in order."""
    kind: Kind = "fact"
    for each in decisions:
        past, record = each.recorded, each.record
        saying = Saying(
            session=record.session,
            # A timer's input in a run stands at no place of the recording.
            sequence=(past or record).sequence,
            event=record.text,
            baseline=uttered(past) if past is not None else None,
            challenger=_heard(each),
            kind=kind,
        )
        yield saying
        # A decision without its like in the recording changes what follows, too.
        if saying.is_other or past is None:
            kind = "predicted"


def uttered(record: DecisionRecord) -> Utterance:
    """Return what a decision came to."""
    if record.said is None:
        return Utterance(text=None, silence=record.silence or "pending")
    return Utterance(text=record.said, response_type=record.answer.response_type)


def _heard(decision: ClosedLoopDecision) -> Utterance:
    found = uttered(decision.record)
    # A model would have answered, nobody knows with what.
    if decision.is_unknown:
        return Utterance(text=None, response_type=found.response_type)
    return found
