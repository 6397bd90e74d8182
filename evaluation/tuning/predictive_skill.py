"""Judge learning settings by how well confidence predicted the outcomes of fires.

Gains are differences of Brier scores as a share of the score of the running base rate
(prequential Brier skill), clustered by session.
"""

from collections.abc import Sequence
from math import sqrt

from evaluation.evidence.facts import Evidence
from evaluation.evidence.refold import Prediction, predictions
from evaluation.ope.calibration import prequential
from evaluation.ope.intervals import quantile
from evaluation.ope.student import p_value
from evaluation.tuning.search import Gain, Values
from schemas.values.exact_math import total


class SkillObjective:
    """The prequential Brier skill over sessions in which some fire's end is known."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        """Judge by this evidence, in the order of time."""
        stretches = sorted(evidence, key=lambda each: (each.began_ns, each.agent))
        recorded = [(each, predictions(each, {})) for each in stretches]
        # A session without a known end would add a degree of freedom, and no evidence.
        self._evidence = [each for each, made in recorded if made]
        self._recorded = [made for _, made in recorded if made]

    @property
    def sessions(self) -> int:
        """How many sessions hold a fire whose outcome is known."""
        return len(self._evidence)

    @property
    def names(self) -> Sequence[str]:
        """Their names, in the order of time."""
        return [each.session for each in self._evidence]

    async def gains(self, choices: Sequence[Values], sessions: range) -> list[Gain]:
        """Return how much skill each choice adds to the recorded settings' over sessions.

        Raises:
            TuningError: there is no such setting, or it cannot have such a value.
        """
        return [self._gain(choice, sessions) for choice in choices]

    def worth(self, gain: Gain) -> float:
        """Return the gain itself: every fire is scored under every choice."""
        return gain.value

    def _gain(self, choice: Values, sessions: range) -> Gain:
        old = [self._recorded[place] for place in sessions]
        new = [predictions(self._evidence[place], choice) for place in sessions]
        base = _base(old)
        saved = [
            (_squares(one) - _squares(other)) / base
            for one, other in zip(old, new, strict=True)
        ]
        return mean_gain(saved, [len(each) for each in old])


def mean_gain(saved: Sequence[float], counts: Sequence[int]) -> Gain:
    """Return the mean over rows with its t interval, clustered by session (CR1).

    Each of at least two sessions gives a sum and a number of rows.

    Args:
        saved: what all rows of each session gained together.
        counts: how many rows each session has.
    """
    sessions, rows = len(saved), sum(counts)
    mean = total(saved) / rows
    off = (one - mean * count for one, count in zip(saved, counts, strict=True))
    spread = total(each * each for each in off) * sessions / (sessions - 1)
    se = sqrt(spread) / rows
    reach = quantile(sessions - 1) * se
    # Without any spread, the slightest gain is certain and none is none.
    p = p_value(mean / se, sessions - 1) if se > 0.0 else float(mean == 0.0)
    return Gain(mean, se, (mean - reach, mean + reach), p, sessions)


def _base(made: Sequence[Sequence[Prediction]]) -> float:
    """Return the Brier score of predicting the running base rate."""
    happened = [each.happened for part in made for each in part]
    return float(prequential(happened, happened).base_brier[-1])


def _squares(made: Sequence[Prediction]) -> float:
    return total((each.predicted - each.happened) ** 2 for each in made)
