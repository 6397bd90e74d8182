"""The garbage collector, told to look seldom for cycles.

What we hold is frozen and refers only to what is older, so there are almost none; looking
for them costs a tenth of the mind's time, and now and then an answer that is late.
"""

import gc

_NEW_OBJECTS = 50_000
"""So many more containers than before start a collection, not 700."""


def collect_seldom() -> None:
    """Let this process collect so; call it once, as it starts."""
    gc.set_threshold(_NEW_OBJECTS, 20, 100)
