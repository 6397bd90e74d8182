"""A companion that can talk too much: each answer annoys, and annoyance lasts.

Annoyance follows z' = .8 z + .16 answered; an answer succeeds with .75 (1 - z), silence
with .30. Answering always wins every single decision and loses the person.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.ope.rows import Observation

LENGTH = 20
SPOKE, SILENT = "heuristic:answer", "silent"
SILENT_SUCCESS = 0.30

Answers = Callable[[float], float]
"""The chance of answering at an annoyance."""


def at_random(chance: float) -> Answers:
    """Answers with one chance, whatever the mood."""
    return lambda _: chance


def while_calm(annoyance: float) -> float:
    """Answers only below an annoyance of .35."""
    return 1.0 if annoyance < 0.35 else 0.0


@dataclass(frozen=True, slots=True)
class Log:
    """Sessions in rows, decisions in columns."""

    annoyance: NDArray[np.float64]
    answered: NDArray[np.bool_]
    chance: NDArray[np.float64]
    """The logging probability of answering."""
    reward: NDArray[np.float64]

    def observations(
        self, target: Answers, baseline: Answers | None = None
    ) -> Iterator[Observation]:
        """The same for the estimator; without a `baseline` it is the logger itself."""
        for (session, position), answered in np.ndenumerate(self.answered):
            annoyance = float(self.annoyance[session, position])
            chance = float(self.chance[session, position])
            yield Observation(
                session=f"s{session:05}",
                arm=SPOKE if answered else SILENT,
                propensity=chance if answered else 1.0 - chance,
                reward=float(self.reward[session, position]),
                target=_odds(target(annoyance)),
                baseline=_odds(chance if baseline is None else baseline(annoyance)),
                decision=f"{session}-{position}",
                logging=_odds(chance),
                position=position,
                responded=bool(answered),
                respond_probability=chance,
            )


def play(
    draws: np.random.Generator,
    answers: Answers,
    *,
    sessions: int,
    length: int = LENGTH,
    is_lasting: bool = True,
) -> Log:
    """Play sessions under a strategy; annoyance that does not last makes the null."""
    shape = (sessions, length)
    annoyance, chance = np.zeros(shape), np.zeros(shape)
    answered, reward = np.zeros(shape, dtype=bool), np.zeros(shape)
    z = np.zeros(sessions)
    for t in range(length):
        annoyance[:, t] = z
        chance[:, t] = [answers(each) for each in z.tolist()]
        answered[:, t] = draws.random(sessions) < chance[:, t]
        success = np.where(answered[:, t], 0.75 * (1.0 - z), SILENT_SUCCESS)
        reward[:, t] = draws.random(sessions) < success
        if is_lasting:
            z = 0.8 * z + 0.16 * answered[:, t]
    return Log(annoyance, answered, chance, reward)


def long_run_value(answers: Answers, length: int = LENGTH) -> float:
    """The value of living by a strategy, which no log of another one tells.

    Exact where the strategy draws nothing, or draws alike at every annoyance.
    """
    z = total = 0.0
    for _ in range(length):
        chance = answers(z)
        total += chance * 0.75 * (1.0 - z) + (1.0 - chance) * SILENT_SUCCESS
        z = 0.8 * z + 0.16 * chance
    return total / length


def _odds(chance: float) -> Mapping[str, float]:
    return {arm: p for arm, p in ((SPOKE, chance), (SILENT, 1.0 - chance)) if p > 0.0}
