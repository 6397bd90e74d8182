"""The learning curve: ten hours of a game in which all that is known is learnt."""
