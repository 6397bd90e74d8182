"""What stands beside every verdict of what whole sessions came to, which none judges.

Values are of single decisions. Where a pack declares outcomes of sessions, these say how
many sessions an experiment takes to judge them, whether they go the way of decisions'
outcomes, and which pattern that counts as a success comes before an end.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import atanh, erfc, sqrt, tanh

from evaluation.compare.session import SessionResult
from evaluation.ope import sequential
from replay.recording.session_outcomes import SessionSummary
from schemas.values.exact_math import total

NOT_JUDGED = "whole sessions: not judged by this recording"
"""What is said beside each verdict, where a pack declares outcomes of sessions."""

_TENTH = 0.1
"""The share of a measure's mean that an experiment is planned to find."""
_LEAST_SESSIONS = 10
"""Sessions from which on it is said how decisions' outcomes go with a session's."""
_SOON = 10
"""Decisions of a session within which an end comes soon after one of them."""
_LEAST_SUCCESSES = 10
"""Successes of a pattern from which on it is said what comes after them."""
_CHANCE = 0.01
"""The p-value, for all patterns together, from which on an end after one is named."""
_Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class _Ends:
    """Of decisions of one kind, how many an end came soon after."""

    soon: int = 0
    decisions: int = 0

    @property
    def share(self) -> float:
        return self.soon / self.decisions if self.decisions else 0.0

    def __add__(self, other: "_Ends") -> "_Ends":
        return _Ends(self.soon + other.soon, self.decisions + other.decisions)


def beside_a_verdict(
    results: Sequence[SessionResult], measures: Sequence[SessionSummary], played: str
) -> tuple[str, ...]:
    """Return what is said of whole sessions beside each verdict; nothing without a measure.

    `played` says in words who played the recorded sessions.
    """
    if not measures:
        return ()
    return (
        f"{NOT_JUDGED}, which {played} played",
        *(_needed(each, len(measures)) for each in measures),
        *_together(results, measures),
        *_before_an_end(results),
    )


def _needed(found: SessionSummary, measures: int) -> str:
    """Return how many sessions an experiment takes to find a tenth of a measure."""
    if found.mean is None:
        return f"{found.name} unknown"
    unit = " s" if found.measure == "duration" else ""
    tenth = abs(found.mean) * _TENTH
    said = f"{found.name} {found.mean:,.4g}{unit}"
    if not found.se or not tenth:
        return f"{said}: how much it varies, these sessions do not tell"
    count = sequential.sessions_for(
        tenth, found.se * sqrt(found.sessions), alpha=sequential.ALPHA / measures
    )
    return (
        f"{said} ± {found.se:,.3g}: `echoic ab` takes about {_rounded(count):,} sessions to"
        f" find a tenth of it ({tenth:,.3g}{unit})"
    )


def _rounded(count: int) -> int:
    """Return a planned number to two digits: no ± of a few sessions tells more."""
    size = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // size) * size


def _together(
    results: Sequence[SessionResult], measures: Sequence[SessionSummary]
) -> Iterator[str]:
    """Yield how sessions in which decisions went well came out, by each measure."""
    means = {
        (index, session): total(values) / len(values)
        for index, result in enumerate(results)
        for session, values in _values_by_session(result).items()
    }
    for measure in measures:
        pairs = [
            (means[index, each.session], each.value)
            for index, result in enumerate(results)
            for each in result.recorded.sessions
            if (each.domain, each.declared.name) == (measure.domain, measure.name)
            and each.value is not None
            and (index, each.session) in means
        ]
        if len(pairs) >= _LEAST_SESSIONS:
            yield _correlated(pairs, measure)


def _values_by_session(result: SessionResult) -> dict[str, list[float]]:
    """Return what was observed of a recording's decisions, by session."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for record in result.recorded.records:
        outcome = result.recorded.outcomes.get(record.id)
        # What silence or an unseen answer counts is an assumption and no observation.
        if outcome is not None and outcome.value is not None and outcome.is_observed:
            found[record.session].append(outcome.value)
    return found


def _correlated(pairs: Sequence[tuple[float, float]], measure: SessionSummary) -> str:
    """Return Pearson's r in words, with Fisher's interval (1921)."""
    n = len(pairs)
    r = _pearson(pairs)
    if r is None:
        return f"decisions' outcomes or {measure.name} are alike in all {n} sessions"
    half = _Z95 / sqrt(n - 3)
    # An r of one has no transform; that far off the digits shown do not change.
    middle = atanh(max(-0.999999, min(0.999999, r)))
    low, high = tanh(middle - half), tanh(middle + half)
    figures = f"r {r:+.2f} [{low:+.2f}, {high:+.2f}], {n} sessions"
    if low <= 0.0 <= high:
        return f"nothing tells that {measure.name} goes with decisions' outcomes ({figures})"
    is_good = (r > 0.0) == (measure.better == "higher")
    way = "the better" if is_good else "the worse, not the better,"
    return f"the better decisions went, {way} was {measure.name} ({figures})"


def _pearson(pairs: Sequence[tuple[float, float]]) -> float | None:
    n = len(pairs)
    x, y = (total(each[side] for each in pairs) / n for side in (0, 1))
    xx = total((a - x) ** 2 for a, _ in pairs)
    yy = total((b - y) ** 2 for _, b in pairs)
    if not xx or not yy:
        return None
    return total((a - x) * (b - y) for a, b in pairs) / sqrt(xx * yy)


def _before_an_end(results: Sequence[SessionResult]) -> Iterator[str]:
    """Yield the patterns that count as a success and after which an end comes oftener."""
    by_pattern: defaultdict[str, _Ends] = defaultdict(_Ends)
    every = _Ends()
    for result in results:
        for pattern, ends in _ends_after(result):
            every += ends
            if pattern is not None:
                by_pattern[pattern] += ends
    tried = [
        (pattern, ends)
        for pattern, ends in sorted(by_pattern.items())
        if ends.decisions >= _LEAST_SUCCESSES
    ]
    for pattern, ends in tried:
        others = _Ends(every.soon - ends.soon, every.decisions - ends.decisions)
        if ends.share > others.share and _p_value(ends, others) * len(tried) < _CHANCE:
            yield (
                f"“{pattern}” counts as a success, and an end comes within {_SOON}"
                f" decisions of {ends.share:.0%} of its {ends.decisions} (of"
                f" {others.share:.0%} of other decisions)"
            )


def _ends_after(result: SessionResult) -> Iterator[tuple[str | None, _Ends]]:
    """Yield each decision's pattern, if it succeeded by one, and whether an end came soon."""
    ending = {
        (each.domain, each.declared.type)
        for each in result.recorded.sessions
        if each.declared.measure == "duration"
    }
    if not ending:
        return
    sessions: defaultdict[str, list[tuple[bool, str | None]]] = defaultdict(list)
    for record in result.recorded.records:
        decided = record.decided
        outcome = result.recorded.outcomes.get(record.id)
        succeeded = outcome is not None and outcome.value == 1.0
        pattern = outcome.pattern if outcome is not None and succeeded else None
        is_end = (decided.domain, decided.type) in ending
        sessions[record.session].append((is_end, pattern))
    for decisions in sessions.values():
        ends = [is_end for is_end, _ in decisions]
        for place, (is_end, pattern) in enumerate(decisions):
            if not is_end:
                yield pattern, _Ends(any(ends[place + 1 : place + 1 + _SOON]), 1)


def _p_value(one: _Ends, other: _Ends) -> float:
    """Return the two-sided p-value that two shares are the same (normal approximation)."""
    both = one + other
    spread = both.share * (1.0 - both.share) * (1.0 / one.decisions)
    if not other.decisions or not spread:
        return 1.0
    spread += both.share * (1.0 - both.share) / other.decisions
    return erfc(abs(one.share - other.share) / sqrt(2.0 * spread))


def played_by(label: str, explored: Iterable[bool]) -> str:
    """Return who played the recorded sessions: a strategy, or its mixture with others."""
    drawn = list(explored)
    if not any(drawn):
        return label
    return f"{label} with exploration ({sum(drawn) / len(drawn):.0%} of decisions)"
