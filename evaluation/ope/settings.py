"""The limits of the gates, and the margin within which a difference counts as none.

A limit can be made stricter than its default, never looser: a gate that could be relaxed
until the verdict comes out would be none.
"""

from dataclasses import dataclass, field, fields
from typing import Self

from evaluation.ope.people import Population


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a gate cautions and where it refuses; `*_max` bind from above."""

    propensity_z_caution_max: float = 2.5
    propensity_z_max: float = 3.0
    """Standard errors that mean weights may lie off 1. Three tests are made: at 2.4 each
    (Bonferroni) one of twenty sound logs would get a caution if z were normal, and at 2.5
    it is not more in simulations. There 0.2 to 0.7 % of sound logs exceeded 3, and wrong
    formulas for epsilon did in every run."""

    unsupported_mass_caution_max: float = 0.01
    unsupported_mass_max: float = 0.05
    """The share of a strategy's odds that the log could never have shown. The difference may
    be off by all of it, so 0.05 is already more than twice the usual margin of 0.02."""

    flip_observations: float = 30.0
    flip_observations_caution: float = 60.0
    """Decisions where the two differ and one side's own arm was played. In simulations
    nominal 95 % intervals came near their level from about 30 on, not under 15."""

    flip_sessions: float = 15.0
    flip_sessions_caution: float = 30.0
    """Sessions with at least one of them: errors clustered over fewer are unreliable."""

    people: float = 10.0
    people_caution: float = 30.0
    """People with at least one of them, where the verdict is for people like these: of
    fewer than ten nobody knows how people differ (docs/evaluation.md has what was measured)."""

    rare_outcomes: float = 10.0
    rare_outcomes_caution: float = 20.0
    """Outcomes other than the commonest expected among them; with successes and failures,
    so many of either. Below it intervals held the truth in only 78 to 87 % of logs."""

    ess: float = 50.0
    ess_share: float = 0.02
    ess_share_caution: float = 0.1
    """Kish's effective number of decisions, by itself and as a share of all. The mean of
    50 coin flips has a standard error of 0.07; the shares are those of skdr-eval."""

    weight_share_caution_max: float = 0.05
    weight_share_max: float = 0.1
    """The share of all weight that a single decision may have: above it, one outcome the
    other way would move the estimate by more than a tenth."""

    pareto_k_caution_max: float = 0.5
    pareto_k_max: float = 0.7
    """The shape of the weights' tail. The variance is infinite from 1/2 on, and from 0.7 on
    means converge too slowly to be of use (Vehtari et al., 2024, JMLR 25)."""

    known_share: float = 0.5
    known_share_caution: float = 0.8
    """The share of decisions whose outcome is known. Under it, a verdict has to survive the
    worst and the best that unknown outcomes may be."""

    censored_share_caution_max: float = 0.05
    censored_share_max: float = 0.2
    """The share of decisions whose outcome was cut off, as by the end of a session. They
    are left out on both sides, so many of them make the rest unrepresentative."""

    cassette_hit_rate_caution: float = 0.9
    """The share of the target's model calls whose answer the recording holds."""

    agreement_caution: float = 0.5
    """The share of the shorter interval, DR's or SNIPS', that lies within the other."""

    def __post_init__(self) -> None:
        """Refuse a limit looser than the default.

        Raises:
            ValueError: one is.
        """
        for each in fields(self):
            given, default = getattr(self, each.name), each.default
            looser = given > default if each.name.endswith("_max") else given < default
            # NaN compares as neither looser nor stricter; it would switch the gate off.
            if looser or given != given:
                bound = "at most" if each.name.endswith("_max") else "at least"
                raise ValueError(
                    f"limit {each.name} {given!r}: a limit can only be made stricter,"
                    f" give {bound} {default!r}"
                )


@dataclass(frozen=True, slots=True)
class EstimationSettings:
    """The settings of an estimate: limits, margin and bootstrap."""

    limits: Limits = field(default_factory=Limits)

    rope: float = 0.02
    """The region of practical equivalence in outcome units: a difference within ± this
    much counts as none."""

    rope_share: float | None = 0.1
    """The margin is at most this share of the baseline's success rate, or of its failure
    rate if lower: where one in 250 succeeds, two in 250 are twice as many. None: `rope`
    alone counts."""

    resamples: int = 2000
    """Bootstrap resamples: 50 beyond either end of a 95 % interval."""

    population: Population = "these"
    """For whom the verdict speaks: `these` people, or people `alike`."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            ValueError: a value lies outside its range.
        """
        if not 0.0 <= self.rope < 1.0:
            raise ValueError(f"rope {self.rope!r}: give a difference in [0, 1)")
        if self.rope_share is not None and not 0.0 < self.rope_share <= 1.0:
            raise ValueError(f"rope_share {self.rope_share!r}: give a share in (0, 1]")
        if self.resamples < 200:
            raise ValueError(f"resamples {self.resamples!r}: give at least 200")

    @classmethod
    def wished(
        cls,
        rope: float | None,
        limits: Limits | None = None,
        population: Population = "these",
    ) -> Self:
        """Return the settings with a given margin, which then counts alone, or the usual one.

        Raises:
            ValueError: the width lies outside its range.
        """
        limits = limits or Limits()
        if rope is None:
            return cls(limits, population=population)
        return cls(limits, rope, rope_share=None, population=population)

    def margin(self, base_rate: float) -> float:
        """Return the margin of no difference from a baseline of this value, in [0, 1]."""
        if self.rope_share is None:
            return self.rope
        # A doubly robust rate may lie outside [0, 1], and a margin cannot be negative.
        rarer = min(max(min(base_rate, 1.0 - base_rate), 0.0), 0.5)
        return min(self.rope, self.rope_share * rarer)


@dataclass(frozen=True, slots=True)
class SelfReplay:
    """The result of deciding the recording again under its own strategy."""

    identical: int
    total: int
    divergence: str | None = None
    """The first output that differs, described for a person."""

    is_other_code: bool = False
    """Whether code or configuration changed since, though all came out the same."""

    @property
    def is_identical(self) -> bool:
        """Whether every output came out the same."""
        return self.identical == self.total
