"""How long a test waits for a fact."""

PATIENCE_S = 100.0
"""For whatever comes in a moment on a machine of its own: on one that others starve, and
thirty programs of the tests do, it may take a minute. No measure of speed: who claims that
something takes little time says how much himself."""
