"""What no words for a person hold: marks of templates, names of roles, pieces of JSON."""

import re
from itertools import groupby

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
_SENTENCES = re.compile(r"(?<=[.!?\u2026])\s+|\n+")
_LOOP = re.compile(r"(\S{1,12}?\s?)\1{39}")
_MOST_ALIKE = 3
"""How often in a row one sentence may be said; a model that loops says it on and on."""
_ENDLESS_TAIL = 300
"""How many characters of the end are examined: endless repetition shows there."""
_ENDLESS_LEAST = 120
"""How many characters a text must have to be called endless."""
_RUN_LENGTH = 4
_NEW_ONE_IN = 4
"""In English prose of such a length about nine in ten runs of four characters are new; in
a text that goes round in circles of a line or less, less than one in four."""
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
    """Tell whether a sentence of three words or more, or some letters, come on and on."""
    runs = groupby(each.strip().casefold() for each in _SENTENCES.split(words))
    alike = (sum(1 for _ in run) for told, run in runs if told.count(" ") > 1)
    levelled = " ".join(words.lower().split())
    is_loop = _LOOP.search(words) is not None or _is_endless(levelled)
    return is_loop or any(count > _MOST_ALIKE for count in alike)


def _is_endless(text: str) -> bool:
    if len(text) < _ENDLESS_LEAST:
        return False
    tail = text[-_ENDLESS_TAIL:]
    runs = [tail[at : at + _RUN_LENGTH] for at in range(len(tail) - _RUN_LENGTH + 1)]
    # In whole numbers, so that no rounding decides.
    return len(dict.fromkeys(runs)) * _NEW_ONE_IN < len(runs)


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
