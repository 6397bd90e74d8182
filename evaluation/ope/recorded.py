"""What a log holds of the flips between two strategies, for planning what to record."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import comb, fsum
from statistics import median

from evaluation.ope.rows import Observation


@dataclass(frozen=True, slots=True)
class Scheme:
    """An exploration scheme: the probability of each side's arm where the two disagree."""

    name: str
    challenger: float
    """The probability of the challenger's arm."""
    baseline: float
    """The probability of the baseline's own arm."""

    @property
    def variance(self) -> float:
        """Variance of one flip's IPS difference in units of an outcome's variance.

        1/p + 1/q: each side's outcome is seen with its probability and weighs its inverse.
        """
        return 1.0 / self.challenger + 1.0 / self.baseline


@dataclass(frozen=True, slots=True)
class Trend:
    """Flips that became fewer, as where what was learnt makes two strategies agree."""

    early: float
    """Flips a session in the first two thirds."""
    late: float
    """Flips a session in the last third."""
    late_sessions: int
    rate: float
    """The share of all decisions that flip."""
    late_rate: float
    """The same of the last third."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What has been recorded: sizes, flips, and how the flips were explored."""

    sessions: int
    decisions: int
    flip_rate: float
    """The share of decisions where the two strategies differ."""
    flip_observations: float
    """How many of them played the challenger's arm, with a known outcome."""
    rarer: float = 0.5
    """The share of outcomes at flips that are not the commonest one."""
    known: float = 1.0
    """The share of flips whose outcome is known."""
    offered: float | None = None
    """The median probability of the challenger's arm where it was drawn at a flip."""
    tried: int | None = None
    """In how many sessions the challenger's arm was played at a flip; None: in all."""
    by_session: tuple[tuple[int, float], ...] = ()
    """The decisions and the flips of each session, in order."""

    @property
    def decisions_per_session(self) -> float:
        """The mean number of decisions in a session; 0 without sessions."""
        return self.decisions / self.sessions if self.sessions else 0.0

    @property
    def trend(self) -> Trend | None:
        """How flips fell off over the sessions; None if they did not, but for chance."""
        return _trend(self.by_session)

    @property
    def coming_rate(self) -> float:
        """The share of decisions of sessions to come where the two differ, at a guess."""
        found = self.trend
        if found is None or not self.flip_rate:
            return self.flip_rate
        return self.flip_rate * found.late_rate / found.rate

    @property
    def exploration(self) -> Scheme | None:
        """The exploration on record; None if the challenger's arm was never played."""
        flips = self.flip_rate * self.decisions * self.known
        if not flips or not 0.0 < self.flip_observations < flips:
            return None
        chance = self.flip_observations / flips
        # As if only the two arms were drawn at flips: a third arm's
        # draws count as the baseline's.
        return Scheme("as now", chance, 1.0 - chance)


def recorded_from(observations: Iterable[Observation]) -> Recorded:
    """Count what a log holds, without censored decisions.

    A decision without a session is a session of its own, as for the estimator.
    """
    count = _Count()
    for each in observations:
        if not each.is_censored:
            count.take(each)
    return count.found()


@dataclass(slots=True)
class _Count:
    """What a log holds, decision by decision."""

    sessions: dict[str, tuple[int, float]] = field(default_factory=dict)
    """The decisions and the flips of each, in order."""
    tried: set[str] = field(default_factory=set)
    offered: list[float] = field(default_factory=list)
    flipped: list[float] = field(default_factory=list)
    observed: list[float] = field(default_factory=list)
    known: list[float] = field(default_factory=list)
    outcomes: Counter[float] = field(default_factory=Counter)

    def take(self, row: Observation) -> None:
        gains = {
            arm: gain
            for arm, odds in row.target.items()
            if (gain := odds - row.baseline.get(arm, 0.0)) > 0.0
        }
        flips, played = fsum(gains.values()), gains.get(row.arm, 0.0)
        session = row.session or f"\0{len(self.flipped)}"
        decisions, before = self.sessions.get(session, (0, 0.0))
        self.sessions[session] = decisions + 1, before + flips
        self.flipped.append(flips)
        logged = row.logging or {row.arm: row.propensity}
        self.offered += [logged[arm] for arm in gains if logged.get(arm)]
        # Only with a known outcome, as the gates on flips count them.
        if row.reward is None:
            return
        self.known.append(flips)
        self.observed.append(played)
        if played:
            self.tried.add(session)
        if row.target.get(row.arm, 0.0) != row.baseline.get(row.arm, 0.0):
            self.outcomes[row.reward] += 1

    def found(self) -> Recorded:
        decisions, flips = len(self.flipped), fsum(self.flipped)
        most = max(self.outcomes.values(), default=0) / max(self.outcomes.total(), 1)
        return Recorded(
            sessions=len(self.sessions),
            decisions=decisions,
            flip_rate=flips / decisions if decisions else 0.0,
            flip_observations=fsum(self.observed),
            rarer=1.0 - most if most else 0.5,
            known=fsum(self.known) / flips if flips else 1.0,
            offered=median(self.offered) if self.offered else None,
            tried=len(self.tried),
            by_session=tuple(self.sessions.values()),
        )


def _trend(by_session: Sequence[tuple[int, float]]) -> Trend | None:
    """Return how flips fell off; None with few sessions, or where it may be chance.

    They count as fallen if the last third of the sessions has at most half of the rate
    before, and so few by chance once in a hundred times: given all flips, those of the last
    third are binomial with its share of the decisions.
    """
    third = len(by_session) // 3
    if third < _LEAST_THIRD:
        return None
    early, late = by_session[:-third], by_session[-third:]
    (before, flips), (after, left) = (
        (sum(n for n, _ in part), fsum(flipped for _, flipped in part))
        for part in (early, late)
    )
    if not before or not after or left * before * 2.0 > flips * after:
        return None
    total, share = round(flips + left), after / (before + after)
    chance = fsum(
        comb(total, k) * share**k * (1.0 - share) ** (total - k)
        for k in range(round(left) + 1)
    )
    if chance >= _TREND_CHANCE:
        return None
    return Trend(
        early=flips / len(early),
        late=left / third,
        late_sessions=third,
        rate=(flips + left) / (before + after),
        late_rate=left / after,
    )


_LEAST_THIRD = 3
"""Sessions that a third has at least, for a trend to be looked for."""
_TREND_CHANCE = 0.01
"""The chance of as few flips from which on they count as fallen."""
