"""The limits of the gates, and what counts as no difference.

A limit may be made stricter than it is here, never looser.
"""

from dataclasses import dataclass, field, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a gate cautions and where it refuses; `*_max` bind from above."""

    propensity_z_caution_max: float = 2.0
    propensity_z_max: float = 3.0
    """Mean weights farther from 1 than this many standard errors: wrong probabilities."""

    unsupported_mass_caution_max: float = 0.01
    unsupported_mass_max: float = 0.05
    """The share of a strategy's odds that the log could never have shown."""

    flip_observations: float = 30.0
    flip_observations_caution: float = 60.0
    """Decisions where the two differ and the one's arm was played."""

    flip_sessions: float = 15.0
    flip_sessions_caution: float = 30.0
    """Sessions with at least one of them."""

    rare_outcomes: float = 10.0
    rare_outcomes_caution: float = 20.0
    """Outcomes other than the commonest to be expected among them: if they are successes
    and failures, so many of either."""

    ess: float = 50.0
    ess_share: float = 0.02
    ess_share_caution: float = 0.1
    """The effective number of decisions, by itself and as a share of all."""

    weight_share_caution_max: float = 0.05
    weight_share_max: float = 0.1
    """What one decision may weigh among all."""

    pareto_k_caution_max: float = 0.5
    pareto_k_max: float = 0.7
    """The shape of the weights' tail; from 0.7 on a mean of them says nothing."""

    known_share: float = 0.5
    known_share_caution: float = 0.8
    """The share of decisions whose outcome is known."""

    censored_share_caution_max: float = 0.05
    censored_share_max: float = 0.2
    """The share of decisions whose outcome was cut off."""

    cassette_hit_rate_caution: float = 0.9
    """The share of the target's model calls whose answer the recording holds."""

    agreement_caution: float = 0.5
    """How much of the shorter interval, of DR's and SNIPS', lies within the other."""

    def __post_init__(self) -> None:
        """Refuse a limit looser than the default.

        Raises:
            ValueError: one is.
        """
        for each in fields(self):
            given, default = getattr(self, each.name), each.default
            looser = given > default if each.name.endswith("_max") else given < default
            if looser or given != given:
                bound = "at most" if each.name.endswith("_max") else "at least"
                raise ValueError(
                    f"limit {each.name} {given!r}: a limit can only be made stricter,"
                    f" give {bound} {default!r}"
                )


@dataclass(frozen=True, slots=True)
class EstimationSettings:
    """How an estimate is made."""

    limits: Limits = field(default_factory=Limits)

    rope: float = 0.02
    """A difference within ± this much makes none."""

    rope_share: float | None = 0.1
    """It has to lie within this share of the baseline's successes, too, or of its failures
    if they are fewer: where one in 250 succeeds, two in 250 are twice as many. None: the
    width alone counts."""

    resamples: int = 2000
    """Of the bootstrap."""

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
    def wished(cls, rope: float | None, limits: Limits | None = None) -> Self:
        """With a width that somebody gave, which then counts alone, or the usual one.

        Raises:
            ValueError: the width lies outside its range.
        """
        limits = limits or Limits()
        return cls(limits) if rope is None else cls(limits, rope, rope_share=None)

    def margin(self, base_rate: float) -> float:
        """Return what counts as no difference from a baseline of this value."""
        if self.rope_share is None:
            return self.rope
        rarer = min(max(min(base_rate, 1.0 - base_rate), 0.0), 0.5)
        return min(self.rope, self.rope_share * rarer)


@dataclass(frozen=True, slots=True)
class SelfReplay:
    """What deciding the recording again under its own strategy gave."""

    identical: int
    total: int
    divergence: str | None = None
    """The first output that differs, for a person."""

    is_other_code: bool = False
    """Whether code or configuration changed since, though all came out the same."""

    @property
    def is_identical(self) -> bool:
        """Whether every output came out the same."""
        return self.identical == self.total
