"""How much of everything an agent remembers: what is beyond a bound is forgotten.

A `Bounded` map holds at least so many and at most twice as many; a tuple exactly so many.
"""

SEEN_EVENTS = 10_000
"""How many event ids of a source are remembered, at least."""

DECISIONS = 10_000
"""How many decisions can still be answered by feedback or an outcome, at least."""

SOURCES = 1_000
"""How many sources of an agent are remembered, at least."""

EVENT_SORTS = 2_000
"""How many sorts of event are told apart, at least."""

PEOPLE = 1_000
"""With how many people an agent stands in rapport, at least."""

ASKS = 10_000
"""How many asks are remembered, at least, so that the first answer to each wins."""

LESSONS = 500
"""How many models' answers can still become heuristics, at least."""

OCCASIONS = 256
"""Of how many decisions it is still known what they were on, at least."""

RECENT_EVENTS = 10
"""How many events of a source novelty compares with."""

VOTES_OF_PERSON = 1_000
"""How many of a person's latest votes can still be changed, at least."""

RECENT_FIRES = 16
"""How many of a heuristic's latest fires are remembered."""

SHOWN_FIRES = 64
"""How many of the latest fires can be taken back."""

OPEN_FIRES = 256
"""How many fires may wait for an outcome; the oldest is given up first."""

HABITS = 32
"""How many sorts of event of one source and type are told apart."""

DOMAINS_WITH_GOALS = 64
"""For how many domains an agent has goals; the last by name gives way."""

PROPOSALS = 64
"""How many proposals an agent keeps; the oldest that is not in force goes first."""

PENDING_ANSWERS = 64
"""How many decisions of an agent may wait for the model."""
