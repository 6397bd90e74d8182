"""Sum up decisions by period, in the figures that learning moves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import TypeVar

from evaluation.learning.answers import Answer

_T = TypeVar("_T")

_QUARTERS = 4


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, and over how many it is; without any it is None."""

    value: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The decisions of one stretch, or of one voice."""

    label: str
    began_at: datetime
    ended_at: datetime
    """The agent's time of its first and its last decision."""
    decisions: int
    answers: int
    """Decisions on which something was said."""
    by_heuristics: int
    """Answers of System 1."""
    calls: Mapping[str, int]
    """What models were asked, by purpose."""
    context_match: Mean
    """How like event and condition were, where a heuristic answered."""
    confidence: Mean
    """What was believed of it then."""
    success: Mean
    """How its answers came out by what credited them, where anything did."""
    worth: Mean
    """The same by what a comparison goes by, which asks alike whoever answered."""
    model_worth: Mean
    """That of the model's answers."""

    @property
    def system_1_share(self) -> float | None:
        """The share of answers that needed no model; None without any answer."""
        return self.by_heuristics / self.answers if self.answers else None

    @property
    def calls_per_event(self) -> float:
        """How often a model was asked for an answer, per decision."""
        return self.calls.get("answer", 0) / self.decisions


def quarters(answers: Sequence[Answer]) -> tuple[Period, ...]:
    """Return four periods: of whole sessions if there are as many, else of decisions."""
    sessions = list(dict.fromkeys(each.record.session for each in answers))
    if len(sessions) < _QUARTERS:
        return _labelled(_parts(answers, _QUARTERS))
    parts = []
    for named in _parts(sessions, _QUARTERS):
        members = set(named)
        parts.append([each for each in answers if each.record.session in members])
    return _labelled(parts)


def stretches(answers: Sequence[Answer], per: int) -> tuple[Period, ...]:
    """Return periods of `per` decisions each; the last may be shorter."""
    return _labelled([answers[at : at + per] for at in range(0, len(answers), per)])


def by_voice(answers: Sequence[Answer]) -> tuple[Period, ...]:
    """Return one for each personality or variant, in the order in which they came."""
    voices = dict.fromkeys(each.voice for each in answers)
    return tuple(
        period(voice, [each for each in answers if each.voice == voice])
        for voice in voices
    )


def period(label: str, answers: Sequence[Answer]) -> Period:
    """Return some decisions, at least one, summed up."""
    said = [each for each in answers if each.spoke is not None]
    own = [each for each in said if each.spoke == "heuristic"]
    weighed = [each.candidate for each in own if each.candidate is not None]
    calls: Counter[str] = Counter()
    for each in answers:
        calls.update(each.calls)
    return Period(
        label=label,
        began_at=answers[0].record.at,
        ended_at=answers[-1].record.at,
        decisions=len(answers),
        answers=len(said),
        by_heuristics=len(own),
        calls=dict(sorted(calls.items())),
        context_match=_mean(each.similarity for each in weighed),
        confidence=_mean(each.confidence for each in weighed),
        success=_mean(each.success for each in own),
        worth=_mean(each.worth for each in own),
        model_worth=_mean(each.worth for each in said if each.spoke == "llm"),
    )


def _mean(values: Iterator[float | None]) -> Mean:
    known = [each for each in values if each is not None]
    return Mean(fmean(known) if known else None, len(known))


def _parts(values: Sequence[_T], count: int) -> Iterator[Sequence[_T]]:
    for part in range(count):
        # Integer division of both ends: parts differ by one at most, and none is lost.
        first, last = (len(values) * each // count for each in (part, part + 1))
        if first < last:
            yield values[first:last]


def _labelled(parts: Iterable[Sequence[Answer]]) -> tuple[Period, ...]:
    return tuple(
        period(str(number), part) for number, part in enumerate(parts, start=1)
    )
