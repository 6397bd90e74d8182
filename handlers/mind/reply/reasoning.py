"""What a model thought aloud, told apart from what it says."""

import re

_NAMES = (
    r"think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratch_?pad|analysis"
    r"|inner_monologue|chain_of_thought|antthinking|(?:seed|mm|ant)[:_]think(?:ing)?"
)
_OPENS = re.compile(
    rf"<\s*+(?:{_NAMES})(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    rf"|<\|start_thinking\|>|<\|channel>thought|&lt;(?:{_NAMES})&gt;"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^<]*<\|message\|>",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    rf"<\s*+/\s*+(?:{_NAMES})\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    rf"|<\|end_thinking\|>|<channel\|>|&lt;/(?:{_NAMES})&gt;|\.\.\.done thinking\."
    r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final[^<]*<\|message\|>",
    re.IGNORECASE,
)


def apart(text: str) -> tuple[str, str]:
    """Return what a text says, and what of it was thought.

    A block that is only closed begins with the text, one that is only opened ends with it.
    """
    said, thought = _without_blocks(text)
    closes = list(_CLOSES.finditer(said))
    if closes:
        thought.insert(0, said[: closes[-1].start()])
        said = said[closes[-1].end() :]
    opened = _OPENS.search(said)
    if opened is not None:
        thought.append(said[opened.end() :])
        said = said[: opened.start()]
    parts = (each.strip() for each in thought)
    return said.strip(), "\n".join(each for each in parts if each)


def _without_blocks(text: str) -> tuple[str, list[str]]:
    """Return a text without its whole blocks, and what stood in them."""
    said, thought = [], []
    at = depth = begins = 0
    for mark in _marks(text):
        is_opening = _OPENS.fullmatch(mark[0]) is not None
        if is_opening:
            if depth == 0:
                said.append(text[at : mark.start()])
                at, begins = mark.start(), mark.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                thought.append(text[begins : mark.start()])
                at = mark.end()
    return "".join([*said, text[at:]]), thought


_MARK = re.compile(f"{_OPENS.pattern}|{_CLOSES.pattern}", re.IGNORECASE)


def _marks(text: str) -> list[re.Match[str]]:
    return list(_MARK.finditer(text))
