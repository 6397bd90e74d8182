"""The settings by which confidence follows from evidence, as `MindStarted` records them."""

from typing import Annotated

from pydantic import Field

from schemas.values.base import Part, Unit
from schemas.values.setting import Setting, Tunable

# Of a setting's declaration each part has its line, not each argument.
# fmt: off
_ENDORSEMENT_CAP = 0.65
_STALE_DAYS = 30.0
_DRIFT_FIRES = 20
_DRIFT_LEVEL = 0.999
_IGNORED = 0.3


class LearningWeights(Part):
    """How much each source of credit counts."""

    outcome: Annotated[float, Tunable((0.0, 100.0))] = Field(default=1.0, ge=0.0)
    explicit: Annotated[float, Tunable((0.0, 100.0))] = Field(default=0.8, ge=0.0)
    endorsement: Annotated[float, Tunable((0.0, 100.0))] = Field(default=0.5, ge=0.0)
    ignored: Annotated[float, Tunable((0.0, 100.0))] = Field(default=_IGNORED, ge=0.0)
    """The weight of several ignored fires in a row, all of them together."""


class OriginFactors(Part):
    """How many times `kappa` the declared confidence of each origin weighs."""

    skill_pack: float = Field(default=4.0, gt=0.0, le=1_000.0)
    learned: float = Field(default=1.0, gt=0.0, le=1_000.0)
    seeded: float = Field(default=2.0, gt=0.0, le=1_000.0)


ALIKE = OriginFactors.model_construct(skill_pack=1.0, seeded=1.0)
"""Declared confidence weighs the same whoever declared it."""


class LearningSettings(Part):
    """How confidence follows from evidence."""

    kappa: Annotated[
        float, Tunable((0.1, 1_000.0)), Setting("learning.kappa")
    ] = Field(default=2.0, gt=0.0)
    """The weight of a declared confidence, in observations."""
    kappa_by_origin: Annotated[OriginFactors, Setting(
        "learning.kappa_by_origin", form="origin_factors",
    )] = OriginFactors.model_construct()
    """How many times that it weighs by who declared it: a pack's author, a person who
    teaches, a model whose answer was liked. In the seed's preset all weigh the same."""
    gamma: Annotated[
        float, Tunable((0.01, 1.0)), Setting("learning.gamma", bounds=(0.001, 1))
    ] = Field(default=1.0, gt=0.0, le=1.0)
    """The factor by which each observation discounts earlier evidence, toward the prior; 1:
    nothing is forgotten."""
    weights: LearningWeights = LearningWeights.model_construct()
    endorsement_cap: Annotated[
        Unit, Tunable(), Setting("learning.endorsement_cap")
    ] = _ENDORSEMENT_CAP
    """Models' agreement lifts a confidence up to here and no further."""
    deprecated_below: Annotated[Unit, Tunable()] = 0.3
    frozen_below: Annotated[Unit, Tunable()] = 0.1
    calibrate_raters: Annotated[bool, Tunable(), Setting("learning.calibrate_raters")] = False
    """Whether what somebody says of everything counts for less than what they say
    rarely."""
    undo_s: Annotated[
        float, Setting("learning.undo_s")
    ] = Field(default=30.0, ge=0.0, le=3_600.0)
    """So long after advice, an event that takes it back counts as its failure; 0: none
    does."""
    ignored_after: Annotated[
        int, Setting("learning.ignored_after")
    ] = Field(default=0, ge=0, le=100)
    """So many fires of a heuristic in a row of which nothing came, and which nobody judged,
    count as one weak failure; 0: silence never does."""
    repeat_decay: Annotated[
        float, Tunable(), Setting("learning.repeat_decay")
    ] = Field(default=0.0, ge=0.0, le=100.0)
    """k: after n approvals of a heuristic the next weighs 1 / (1 + k * n); 0: as much."""
    feedback_weight: Annotated[
        float, Tunable(), Setting("learning.feedback_weight")
    ] = Field(default=1.0, ge=0.25, le=2.0)
    """What multiplies the weight of people's votes. A pack's own constraints go before
    it."""
    feedback_half_life_s: Annotated[
        float, Tunable(), Setting("feedback.half_life")
    ] = Field(default=0.0, ge=0.0, le=1e9)
    """After so many seconds a vote on a decision counts for half as much; 0: for as
    much."""
    path_heuristic: Annotated[
        float, Tunable(), Setting("feedback.weight.path.heuristic")
    ] = Field(default=1.0, ge=0.0, le=10.0)
    """What multiplies the weight of votes on what a heuristic said."""
    path_llm: Annotated[
        float, Tunable(), Setting("feedback.weight.path.llm")
    ] = Field(default=1.0, ge=0.0, le=10.0)
    """What multiplies that of votes on a model's words which a heuristic says, too."""
    floor: Annotated[Unit, Tunable(), Setting("learning.floor")] = 0.0
    """No confidence falls under this; 0: none is bounded. A pack's own constraints go
    before it."""
    ceiling: Annotated[Unit, Tunable(), Setting("learning.ceiling")] = 1.0
    """No confidence rises over this; 1: none is bounded. A pack's own constraints go before
    it."""
    stale_days: Annotated[
        float, Setting("learning.stale_days")
    ] = Field(default=_STALE_DAYS, ge=0.0, le=36_500.0)
    """A heuristic that did not fire for so many days is flagged as stale; 0: none is."""
    first_signal: Annotated[bool, Setting(
        "learning.preset",
        "`seed`: the first signal on a fire counts as one whole observation, and is"
        " final.", start="default", words=("default", "seed"),
    )] = False
    """Whether the first signal on a fire is final: later ones are kept, and weigh 0."""
    drift_fires: Annotated[
        int, Setting("learning.drift_fires")
    ] = Field(default=_DRIFT_FIRES, ge=0, le=128)
    """So many of a heuristic's latest fires are held against all before them, and an alarm
    is raised if they went otherwise; 0: none are."""
    drift_level: Annotated[
        float, Setting("learning.drift_level")
    ] = Field(default=_DRIFT_LEVEL, ge=0.5, le=0.999_999)
    """The coverage of the predictive interval that the share of successes must leave to be
    drift."""


SEED_LEARNING = LearningSettings.model_construct(
    weights=LearningWeights.model_construct(outcome=1.0, explicit=1.0, endorsement=1.0),
    kappa_by_origin=ALIKE, first_signal=True,
)
"""The preset `seed`: the first signal on a fire is a whole observation, and final:
(1 + successes) / (2 + fires)."""
