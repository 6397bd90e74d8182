"""What no words for a person hold: marks of templates, names of roles, pieces of JSON."""

import re
from collections.abc import Mapping

_MARKUP = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|\[/?INST\]|<</?SYS>>"  # noqa: RUF001
    r"|<(?:start|end)_of_turn>|<(?:unk|pad|eos|bos|sep|cls|mask|eot|eop)>"
    r"|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS)\]"
    r"|</?(?:assistant|user|system|human|answer|final_answer)>"
    r"|<unused\d{1,5}>|<0x[0-9A-F]{2}>|<!doctype\b|</?html\b|\u2581"
    r"|[<\[]/?(?:end|stop|eos|eot|end_of_text)[>\]]|(?<=\s)#{3,}\s*\Z",
    re.IGNORECASE,
)
_FENCE = re.compile(r"</?data>", re.IGNORECASE)
"""What stands around others' words in a prompt: `schemas/values/prompt_fencing.py`."""
_TOOL_CALL = re.compile(
    r"</?(?:tool_call|function_calls?|invoke|tool_use)\b[^<>]*>|<function=|\[TOOL_CALLS\]"
    r"|\bto=functions?\.|\A\s*(?:assistant)?(?:commentary\s*)?to=\w"
    r"|(?:\A|\n)[^\S\n]*+action input\s*:",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\[?(?:print\()?[a-z_][\w.]*"
    r"(?:\(\s*(?:[a-z_]\w*\s*=[^=].*|[\"'{\[].*)?\)|\{\s*\"?[a-z_]\w*\"?\s*:.*\})\]?",
    re.IGNORECASE | re.DOTALL,
)
"""A call as a program writes it, where it is all that was said: `set_light(room="hall")`."""
_SILENCE = re.compile(
    r"NO_(?:REPLY|RESPONSE|ANSWER)|(?:\A|\n)[^\S\n]*+[A-Z]{2,}(?:_[A-Z]+)+[.!]?\s*\Z"
    r"|\A\s*[\[(<{*]{1,2}(?i:no (?:reply|response|answer|output)(?: needed| required)?"
    r"|silence|silent|remains? silent|says nothing|empty|keine antwort|stille|schweigt)"
    r"[.!]?[\])>}*]{1,2}\s*\Z"
)
"""How models write that they say nothing, which is no word of it."""
_ROLE = re.compile(
    r"(?:\A|\n)[^\S\n]*+(?:#{1,4}\s*|\*\*|\[)?(?:assistant|user|human)(?:\*\*|\])?\s*[:\uff1a]"
    r"|\A\s*(?:assistant|user|human|system|model)(?:\s*\n|[\W_]*\Z)"
    r"|(?:\A|\n)[^\S\n]*+#{1,4}\s*(?:response|instruction|input|output)\s*:",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"null|none|nil|undefined", re.IGNORECASE)
_PIECE = re.compile(
    r"\A[\W_]*response[\W_]{0,3}[:=]|\A\s*response\s*\n|predicted_success\W{0,3}[:=]"
    r"|\A\s*\{+\s*[\"'\u201c]|</?response>",
    re.IGNORECASE,
)
_LOOP = re.compile(r"(?:(?<![a-z])|(?=(.)\1\1))(.{1,200}?)\2{3,}")
"""A piece that is said four times or more in a row, in small letters and with single blanks.
Within a word of Latin letters but a single letter is tried, or it takes six times as long."""
_LOOP_WORDS, _LOOP_CHARACTERS, _LOOP_TIMES = 3, 120, 40
"""A loop is a piece of so many words; of fewer, what makes so many characters, or comes so
often: one says "ha ha ha ha", and no model ends by itself what it says on and on."""
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u201e"


def fault(words: str) -> str | None:
    """Return why words are none that a person may hear; None if they are."""
    if _TOOL_CALL.search(words) or _CALL.fullmatch(words.strip()):
        return "it is a tool call"
    if _MARKUP.search(words):
        return "it holds a mark of a chat template"
    if _FENCE.search(words):
        return "it holds a mark of the prompt"
    if _ROLE.search(words):
        return "it holds the name of a role"
    if _repeats(words):
        return "it repeats itself"
    if _SILENCE.search(words):
        return "it stands for silence"
    if _NOTHING.fullmatch(words.strip()):
        return f"it is {words.strip().lower()}"
    if _PIECE.search(words) or _is_end_of_object(words):
        return "it holds a piece of JSON"
    return None


def _repeats(words: str) -> bool:
    """Tell whether something is said on and on, anywhere in what is told."""
    for found in _LOOP.finditer(" ".join(words.lower().split()) + " "):
        told = len(re.findall(r"\w+", found[2]))
        is_long = told > 0 and len(found[0]) >= _LOOP_CHARACTERS
        is_often = len(found[0]) >= _LOOP_TIMES * len(found[2])
        if told >= _LOOP_WORDS or is_long or is_often:
            return True
    return False


def _is_end_of_object(words: str) -> bool:
    """Tell whether words end as a text within an object does that begins nowhere."""
    # By hand, for an expression with a run of blanks twice takes the square of the time.
    ended = words.rstrip()
    text = ended.rstrip("}]")
    if text == ended or "{" in text or "[" in text:
        return False
    return text.rstrip().rstrip(",;").rstrip().endswith(('"', "\u201d"))


def is_empty(text: str) -> bool:
    """Tell whether a text holds nothing that can be seen but quotes and a fence."""
    return not text.strip().strip(_INVISIBLE + _QUOTES).strip()


def is_whole(words: str) -> bool:
    """Tell whether words end outside of what may become such a mark, or a call."""
    is_call = re.match(r"\[?[A-Za-z_][\w.]*[({]", words) is not None
    return not is_call and re.search(r"[<\[{][^<>\[\]{}]{0,40}\Z", words) is None


CONTROL = "control"
"""The field with what is changed by a reply, which stands before the words."""


def wanted(fields: Mapping[str, object]) -> list[Mapping[str, object]] | None:
    """Return the changes that an object asks for; None if it asks for none.

    What asks for one behind the words, or in another form, asks for none that can be made.
    """
    told, names = fields.get(CONTROL), list(fields)
    if told in (None, "", [], {}):
        return None
    if "response" in names and names.index("response") < names.index(CONTROL):
        return []
    found = told if isinstance(told, list) else [told]
    return [each for each in found if isinstance(each, dict)]
