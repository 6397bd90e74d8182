"""Pure folds of what is learnt: confidence, votes, priors, drift, rapport.

Each says how one kind of evidence moves what is believed of a heuristic or a person.
"""
