"""What the mind asks of the world: models are called and words go out, here alone.

An ask is a message of the log. It is performed at least once, its result is an input of
the log like any other, and only then is the ask acknowledged to the broker.
"""
