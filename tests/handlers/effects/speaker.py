"""A speaker without sound, as a command: it writes down what it says, and takes its time.

    python speaker.py SCORE [argument ...]

The words come as the last argument after `--words`, else from standard input. To the file
SCORE it appends one JSON line when it begins and one when it has ended. Words such as
`[3]` in a text make it take so many seconds; `[fail]` makes it fail.
"""

import json
import re
import sys
import time
from pathlib import Path


def main() -> None:
    """Say one text."""
    score, *rest = sys.argv[1:]
    words = rest[rest.index("--words") + 1] if "--words" in rest else sys.stdin.read()
    _write(score, "begin", words, rest)
    pause = re.search(r"\[(\d+)\]", words)
    time.sleep(float(pause[1]) if pause else 0.0)
    if "[fail]" in words:
        sys.exit("no sound card")
    _write(score, "end", words, rest)


def _write(score: str, what: str, words: str, rest: list[str]) -> None:
    line = json.dumps({"what": what, "words": words.rstrip("\n"), "with": rest})
    with Path(score).open("a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
