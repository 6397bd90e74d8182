"""Importance weights: what a decision counts for under another strategy."""

from evaluation.ope.columns import Columns, Floats, Odds


def importance_weights(columns: Columns, odds: Odds) -> Floats:
    """Return each row's weight, pi(a|x) / mu(a|x), for the arm a that was taken.

    One place for estimates and their diagnostics: both must see the same weights.
    """
    return odds.taken / columns.propensity
