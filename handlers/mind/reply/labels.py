"""Labels that models put before what they say: their own name, or `Answer:`.

`**Reasoning:** … **Answer:** …` is thought and said as well, told apart in `reasoning`.
"""

import re
from functools import lru_cache

_LABELS = (
    "ai", "bot", "answer", "final answer", "my answer", "reply", "antwort", "meine antwort",
)  # fmt: skip
_MARK = r"(?:\*\*|__|\*|#{1,4}[ \t]+|\[)?"
_END = r"(?:\*\*|__|\*|\])?"


def without(words: str, name: str = "") -> str:
    """Return words without a label before them; `name` is the agent's own."""
    found = _label(name).match(words)
    return words[found.end() :] if found is not None else words


def may_begin(words: str, name: str = "") -> bool:
    """Tell whether more words may make a label of what these begin with."""
    begun = " ".join(words.lstrip("*_#[ ").lower().split())
    bare = begun.rstrip("*_]: ")
    is_label = any(each.startswith(bare) for each in (*_LABELS, *_named(name)))
    # Behind a label nothing is said yet; before its colon it may still become one.
    return is_label and bool(words.strip())


def _named(name: str) -> tuple[str, ...]:
    plain = " ".join(name.replace("_", " ").lower().split())
    return (plain,) if plain else ()


# Few agents are asked for at a time; a label is looked for in every answer.
@lru_cache(maxsize=256)
def _label(name: str) -> re.Pattern[str]:
    labels = "|".join(map(re.escape, (*_LABELS, *_named(name))))
    # What stands behind it is needed: a label alone is no answer.
    return re.compile(
        rf"\s*{_MARK}(?:{labels})(?:{_END}\s?[:\uff1a]{_END})\s*(?=\S)", re.IGNORECASE
    )
