"""What a model thought aloud, told apart from what it says."""

import re

_NAMES = (
    r"think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratch_?pad|analysis|planning"
    r"|(?:inner_|internal_)?monologue|inner_thoughts?|internal(?:_(?:thought|reasoning)s?)?"
    r"|(?:thought|thinking)_process|chain_of_thought|antthinking"
    r"|(?:seed|mm|ant)[:_]think(?:ing)?"
)
_OPENS = re.compile(
    rf"<\s*+(?:{_NAMES})(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    rf"|<\|start_thinking\|>|<\|channel>thought|&lt;(?:{_NAMES})&gt;"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^<]*<\|message\|>"
    # The same without its marks, as a server leaves it that takes them out.
    r"|\A\s*(?:assistant)?analysis(?=(?-i:[A-ZÄÖÜ\"{]))|<unused\d{1,5}>thought\b",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    rf"<\s*+/\s*+(?:{_NAMES})\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    rf"|<\|end_thinking\|>|<channel\|>|&lt;/(?:{_NAMES})&gt;|\.\.\.done thinking\."
    r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final[^<]*<\|message\|>"
    r"|assistantfinal(?=\S)",
    re.IGNORECASE,
)

_LABELS = (
    "reasoning", "thought process", "thinking process", "chain of thought", "thoughts",
    "thought", "begründung", "überlegung", "gedankengang",
)  # fmt: skip
_AROUND = r"(?:\*\*|__|\*|#{1,4}[ \t]+|\[)?"
_REASONING = re.compile(
    rf"\s*{_AROUND}(?:{'|'.join(_LABELS)})(?:\*\*|__|\*|\])?\s?[:\uff1a](?:\*\*|__|\*)?(?=\s)",
    re.IGNORECASE,
)
"""How a text begins that tells its reasoning by a label: `**Reasoning:**`, `Thought:`."""
_AFTERWARDS = re.compile(
    rf"\n[^\S\n]*+{_AROUND}(?:reasoning|(?:thought|thinking) process|chain of thought"
    r"|gedankengang)(?:\*\*|__|\*|\])?\s?[:\uff1a]",
    re.IGNORECASE,
)
"""How it is told behind what is said."""
_ANSWER = re.compile(
    rf"(?:(?<=\s)|\A){_AROUND}(?:final answer|final response|answer|response|reply|antwort)"
    r"(?:\*\*|__|\*|\])?\s?[:\uff1a](?:\*\*|__|\*)?(?=\s)",
    re.IGNORECASE,
)
"""How what is said begins behind it."""


def may_begin(text: str) -> bool:
    """Tell whether more of a text may make such a label of what it begins with."""
    begun = " ".join(text.lstrip("*_#[ ").lower().split()).rstrip("*_]: ")
    return bool(text.strip()) and any(
        each.startswith(begun) for each in (*_LABELS, "analysis")
    )


def apart(text: str) -> tuple[str, str]:
    """Return what a text says, and what of it was thought.

    A block that is only closed begins with the text, one that is only opened ends with it.
    """
    said, thought = _without_blocks(text)
    # Before a label is looked for: what is told by one may be closed by a mark.
    closes = list(_CLOSES.finditer(said))
    if closes:
        thought.insert(0, said[: closes[-1].start()])
        said = said[closes[-1].end() :]
    told = _REASONING.match(said)
    if told is not None:
        answer = _ANSWER.search(said, told.end())
        ends = answer.start() if answer is not None else len(said)
        thought.append(said[told.end() : ends])
        said = said[answer.end() :] if answer is not None else ""
    opened = _OPENS.search(said) or _AFTERWARDS.search(said)
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
        if mark["opens"] is not None:
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


# What closes a block of Gemma's is no mark by itself: any token without a use looks so.
_MARK = re.compile(
    rf"(?P<opens>{_OPENS.pattern})|{_CLOSES.pattern}|<unused\d{{1,5}}>", re.IGNORECASE
)


def _marks(text: str) -> list[re.Match[str]]:
    return list(_MARK.finditer(text))
