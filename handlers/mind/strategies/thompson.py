"""`thompson`: what was learnt is tried as often as it may be the best there is."""

from typing import ClassVar

from handlers.mind.strategies import beta_draws
from handlers.mind.strategies.exploration import whole
from handlers.mind.strategies.heuristic_first import Trusting, ask_or_reject
from handlers.mind.strategies.ranking import ranked
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.values.exact_math import total


class Thompson(Trusting):
    """Draw each candidate's worth from its Beta; the best answers if it is good enough.

    That is Thompson sampling: the highest draw answers if it reaches the threshold, else
    the model is asked. The odds are the exact probabilities of that, so nothing but the
    one recorded draw is left to chance. The likeliest arm counts as greedy.
    """

    name: ClassVar[str] = "thompson"
    version: ClassVar[int] = 1

    def decide(self, context: DecisionContext) -> Odds:
        """Odds over the candidates, and the model or silence."""
        pool = ranked(context.candidates)
        otherwise = ask_or_reject(context)
        if not pool:
            return self.or_silence(context, otherwise)
        counts = tuple((each.alpha, each.beta) for each in pool)
        wins = beta_draws.best_of(counts, self.threshold(context))
        odds = dict(zip((each.arm for each in pool), wins, strict=True))
        likeliest = max(odds, key=odds.__getitem__)
        odds[otherwise.greedy] = max(1.0 - total(wins), 0.0)
        greedy = max(likeliest, otherwise.greedy, key=odds.__getitem__)
        drawn = Odds(arms=whole(odds, greedy), greedy=greedy, silence=otherwise.silence)
        return self.or_silence(context, drawn)
