"""Effects: calling models and delivering responses, as the mind's outputs ask for it.

An ask is a message of the log. It is performed at least once, its result is an input of
the log like any other, and only then is the ask acknowledged to the broker.
"""
