"""What evidence does to a heuristic: confidence, votes, priors, drift, rapport."""
