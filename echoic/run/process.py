"""What every process of ours sets up for itself, before anything heavy is imported."""

import gc
import os
import sys

_NEW_OBJECTS = 50_000
"""So many more containers than before start a collection of garbage, not 700."""


def prepare() -> None:
    """Compute on one thread, and look seldom for cycles; call it first of all.

    A second thread for texts and vectors takes the broker's processor, gains little with
    many of them, and is slow to wake up for one. What we hold is frozen and refers only
    to what is older, so there are almost no cycles; looking for them costs a tenth of the
    mind's time, and now and then an answer that is late.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Where one works is where one's own strategies are; nothing of ours is hidden by it.
    sys.path.append("")
    gc.set_threshold(_NEW_OBJECTS, 20, 100)
