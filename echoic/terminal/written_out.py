"""Texts of others on a terminal: what would command it is written out.

Without any library, for messages that are shown before one is loaded.
"""

import re
import unicodedata

_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text behind them."""

_STEERING = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What JSON leaves as it is and steers a terminal: deletion, C1 controls, directions."""


def written_out(content: str, kept: str = "") -> str:
    """Return a text with control characters and turns written out, except those `kept`."""
    # Control characters move the cursor or recolour; direction marks reorder what follows.
    return "".join(
        repr(each)[1:-1]
        if each not in kept and (unicodedata.category(each) == "Cc" or each in _TURNS)
        else each
        for each in content
    )


def json_written_out(encoded: str) -> str:
    """Return JSON that means the same, and steers no terminal on which it is printed."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)
