"""Facts about words: how many of each type, how long and how loud, and which silences.

Only where the two sides differ in their voice; what followed from other words is predicted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from evaluation.compare.charts import Kind
from evaluation.compare.document import Fact
from evaluation.compare.sayings import Saying, Utterance

_PLURALS = {"question": "questions", "check_in": "check-ins", "quip": "quips"}


def facts_of_words(
    baseline: Sequence[Utterance], sayings: Sequence[Saying]
) -> tuple[Fact, ...]:
    """Return the rows that compare two voices; none without sayings.

    Args:
        baseline: all that was recorded.
        sayings: what the challenger made of each occasion.
    """
    if not sayings:
        return ()
    is_predicted = any(each.kind == "predicted" for each in sayings)
    kind: Kind = "predicted" if is_predicted else "fact"
    challenger = [each.challenger for each in sayings]
    return (
        _otherwise(sayings, kind),
        _mean("words", "words an answer", baseline, challenger, kind),
        _mean("exclamations", "exclamation marks", baseline, challenger, kind),
        *_counts(_types(baseline), _types(challenger), kind),
        *_counts(_silences(baseline), _silences(challenger), kind),
    )


def _otherwise(sayings: Sequence[Saying], kind: Kind) -> Fact:
    both = [
        each
        for each in sayings
        if each.baseline is not None
        and each.baseline.text is not None
        and each.challenger.text is not None
    ]
    unknown = sum(
        each.challenger.text is None and each.challenger.silence is None
        for each in sayings
    )
    known = sum(each.kind == "fact" for each in sayings)
    notes = [f"of {len(both):,} said by both"]
    if kind == "predicted":
        notes.append(f"fact for the first {known:,} of {len(sayings):,} decisions")
    if unknown:
        notes.append(f"{unknown:,} of a model unknown")
    return Fact(
        name="said_otherwise",
        label="said otherwise",
        kind=kind,
        baseline=None,
        challenger=float(sum(each.is_other for each in both)),
        note="; ".join(notes),
    )


def _mean(
    name: str,
    label: str,
    baseline: Sequence[Utterance],
    challenger: Sequence[Utterance],
    kind: Kind,
) -> Fact:
    """Return how many words, or exclamation marks, a known answer has."""
    ours, theirs = (
        [
            len(each.text.split()) if name == "words" else each.text.count("!")
            for each in side
            if each.text is not None
        ]
        for side in (baseline, challenger)
    )
    mine = sum(ours) / len(ours) if ours else None
    other = sum(theirs) / len(theirs) if theirs else None
    delta = None if mine is None or other is None else other - mine
    return Fact(
        name=name, label=label, kind=kind, baseline=mine, challenger=other, delta=delta
    )


def _types(side: Sequence[Utterance]) -> Counter[str]:
    return Counter(
        _PLURALS.get(each.response_type, f"{each.response_type}s")
        for each in side
        if each.response_type is not None
    )


def _silences(side: Sequence[Utterance]) -> Counter[str]:
    return Counter(
        f"silent: {each.silence.replace('_', ' ')}"
        for each in side
        if each.silence is not None
    )


def _counts(ours: Counter[str], theirs: Counter[str], kind: Kind) -> Iterator[Fact]:
    for label in sorted({*ours, *theirs}):
        yield Fact(
            name=label.replace(": ", "_").replace(" ", "_"),
            label=label,
            kind=kind,
            baseline=float(ours[label]),
            challenger=float(theirs[label]),
            delta=float(theirs[label] - ours[label]),
        )
