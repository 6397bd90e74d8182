"""`python -m echoic` is the program `echoic`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python puts the folder one works in first, and a `handlers` or `schemas` there
    # before ours. What the settings name is found there all the same: see `process`.
    ours = Path(__file__).resolve().parents[1]
    if not sys.flags.safe_path and Path(sys.path[0]).resolve() != ours:
        del sys.path[0]

    # Only now: an import before would have found what the working directory hides ours
    # with.
    from echoic.cli import main

    main()
