"""Reading a reply: what it says, or what is wrong with it.

`understood` takes the reply apart as it was received, whatever it was asked for; `object_in`
and `words` read what it says. While a reply is written, `words_so_far` gives only what is in
a form that its end cannot make into something else.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from handlers.mind.reply import form, reasoning
from handlers.mind.reply.near_json import CutOff, NotJson, Reader
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs import model_actions

_RESPONSE = "response"
"""The field with what a person is told."""
_ACTION = "action"
"""The field with what is done besides."""
RULE = ("condition", "message")
"""The fields of a rule that are embedded and compared."""

USED_UP = "the token limit was used up by reasoning"

_LIMIT = ("length", "max_tokens", "model_length")
"""How an answer ends that ran out of tokens."""
_WITHHELD = ("content_filter", "safety", "refusal", "blocklist", "prohibited_content")
"""How one ends that its provider did not want to be heard."""
_CALLS = ("tool_calls", "function_call")

_FENCED = re.compile(r"```\w*\n?(.*?)(?:```)?", re.DOTALL)
_ANSWER = re.compile(
    r"(?:<(?:answer|final|final_answer|output)>)?(.*?)(?:</(?:answer|final|final_answer|output)>)?",
    re.DOTALL | re.IGNORECASE,
)
"""Words with a mark of an answer around them, of which one half may be missing."""
_QUOTE = "[\"'`\u2018\u2019\u201c\u201d\u201e]"
"""Whatever models, and what they learnt from, put around a name."""
_WHOLE_OBJECT = re.compile(rf"\{{+\s*(?:{_QUOTE}|\w+\s*:|\}}|//|/\*|\Z)")
"""How a text begins that is an object from its first sign on."""
_OBJECT = re.compile(rf"\{{\s*(?:{_QUOTE}|response\s*[:=]|\{{)")
"""How an object begins within other words."""
_LIST = re.compile(rf"\[\s*(?:{_QUOTE}|[\[{{])")
_SENTENCE_END = re.compile(
    r"[.!?\u2026][\"'\u201d\u2019)\]]*(?=\s|\Z)"
    r"|[\u3002\uff01\uff1f][\"'\u201d\u2019)\]\u300d\u300f]*"
)

_UNSPACED = re.compile(r"[\u3002\uff01\uff1f]")
"""What ends sentences in scripts that put no blanks between words."""

_TRIES = 32
"""At how many places in other words an object is looked for: each look may take as long as
the text is."""

_UnreadReason = Literal["malformed", "declined", "no_response"]


class Unread(Struct, frozen=True):
    """Why nothing of a reply may be heard."""

    reason: _UnreadReason
    """`malformed`: its form; `declined`: the model's, or its provider's, choice."""
    detail: str


class Said(Struct, frozen=True):
    """What a reply says."""

    words: str
    """Empty: the model chose to say nothing."""
    fields: Mapping[str, object]
    """Its object; empty if it is none."""
    action: model_actions.Wanted | None = None
    """What it wants to do besides."""


class _NoObject(Exception):
    """A text that should hold an object holds none that can be read."""


def understood(
    answered: ModelAnswered | ModelFailed, *, acts: bool = False
) -> ModelAnswered | ModelFailed:
    """Return a reply with its bare content: without reasoning or a refusal.

    One that is no content is a failure, whatever it was asked for; a failure stays one. So
    is a call of a tool, unless the model was told that it `acts`.
    """
    if isinstance(answered, ModelFailed):
        return answered
    finish = (answered.finish_reason or "").lower()
    content = _content(answered.text)
    fault: Unread | None = None
    if answered.refusal:
        fault = Unread("declined", f"the model refused: {answered.refusal}")
    elif finish in _WITHHELD:
        fault = Unread("declined", "the provider withheld the answer")
    elif answered.tool_calls and acts:
        fault = None
    elif answered.tool_calls or finish in _CALLS:
        fault = _malformed("it is a tool call")
    elif form.is_empty(_bare(content)):
        fault = _empty(answered, finish)
    # What is merely empty is left to who reads it: it may ask once more.
    if fault is None:
        return replace(answered, text=content)
    return ModelFailed(
        ask_id=answered.ask_id,
        request_hash=answered.request_hash,
        reason=fault.reason,
        detail=fault.detail[:2_000],
        started_at=answered.started_at,
        latency_ms=answered.latency_ms,
    )


def thought(answered: ModelAnswered) -> str:
    """Return what a model thought, wherever its reply holds it; empty if it tells nothing."""
    _, aloud = reasoning.apart(answered.text)
    return "\n".join(each for each in (answered.reasoning or "", aloud) if each)


def words(
    answered: ModelAnswered, name: str = "", *, acts: bool = False
) -> Said | Unread:
    """Return what an understood reply says to a person; `name` is the agent's own.

    What it wants to do counts if the model was told that it `acts`.
    """
    called = _called(answered.tool_calls) if acts and answered.tool_calls else None
    if isinstance(called, Unread):
        return called
    if called is not None and form.is_empty(_bare(answered.text)):
        return Said("", {}, called)
    said = _words(answered, name, acts=acts)
    if isinstance(said, Unread):
        return said
    told = model_actions.wanted(said.fields.get(_ACTION)) if acts else None
    return Said(said.words, said.fields, called or told)


def _words(answered: ModelAnswered, name: str, *, acts: bool) -> Said | Unread:
    if form.is_empty(_bare(answered.text)):
        return _malformed("it is empty")
    is_cut = (answered.finish_reason or "").lower() in _LIMIT
    try:
        fields = object_in(answered.text, _RESPONSE)
    except _NoObject as error:
        cause = error.__cause__
        if is_cut and isinstance(cause, _CutObject):
            return _whole_of(cause, name)
        return _malformed(str(error))
    if fields is None:
        return _plain(answered.text, name, is_cut=is_cut)
    is_deed = acts and model_actions.wanted(fields.get(_ACTION)) is not None
    if _RESPONSE not in fields and not is_deed and not form.wanted(fields):
        return _malformed(f'it has no "{_RESPONSE}"')
    said = fields.get(_RESPONSE, "")
    if not isinstance(said, str):
        return _malformed(f'its "{_RESPONSE}" is no text')
    return _checked(said, fields, name)


def object_in(text: str, key: str) -> dict[str, object] | None:
    """Return the first JSON object in a text that has `key`; None if it is but words.

    An object without `key` counts where all of the text is it. What follows it is not read.

    Raises:
        _NoObject: there should be one, and none can be read.
    """
    bare = _bare(text)
    if _is_list(bare):
        raise _NoObject("it is a list, and no object")
    if _WHOLE_OBJECT.match(bare):
        return _read(bare, len(bare) - len(bare.lstrip("{")) - 1)
    fault: _NoObject | None = None
    for begins in islice(_OBJECT.finditer(bare), _TRIES):
        try:
            fields = _read(bare, begins.start())
        except _NoObject as error:
            fault = fault or error
            continue
        if key in fields:
            return fields
        fault = fault or _NoObject(f'it has no "{key}"')
    if fault is not None:
        raise fault
    return None


def object_or_none(text: str, key: str) -> dict[str, object] | None:
    """Return the object in a text; None if there is none, or none that can be read."""
    try:
        return object_in(text, key)
    except _NoObject:
        return None


def words_so_far(text: str, own: str = "") -> str:
    """Return what a reply that is still written tells the person for certain; may be empty.

    `own` is the agent's name. Of an object its response. Other words may turn out to be
    reasoning until all are there.
    """
    content, _ = reasoning.apart(text)
    bare = _bare(content)
    if not bare.startswith("{"):
        return ""
    reader = Reader(bare, len(bare) - len(bare.lstrip("{")) - 1)
    try:
        reader.value()
    except CutOff:
        name, begun = reader.unfinished or ("", "")
        so_far = begun if name == _RESPONSE else reader.fields.get(_RESPONSE)
    except NotJson:
        return ""
    else:
        so_far = reader.fields.get(_RESPONSE)
    # What is changed is settled first, and told of in other words.
    is_words = isinstance(so_far, str) and reader.fields.get(form.CONTROL) is None
    return _certain(so_far, own) if isinstance(so_far, str) and is_words else ""


def fault(words: str) -> str | None:
    """Return why words are none that a person may hear as they are; None if they are."""
    is_thought = reasoning.apart(words)[0] != words.strip()
    return "it holds reasoning" if is_thought else form.fault(words)


def field(fields: Mapping[str, object], name: str) -> str:
    """Return a field's text, stripped; empty if the field is missing or no text."""
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts(answered: ModelAnswered, name: str = "") -> tuple[str, ...]:
    """Return the parts of a reply that may have to be compared with other texts."""
    # Whether the model was told that it acts is known later: more may be compared.
    content = understood(answered, acts=True)
    if isinstance(content, ModelFailed):
        return ()
    said = words(content, name, acts=True)
    rule = object_or_none(content.text, RULE[0]) or {}
    told = (said.words, field(said.fields, "goal")) if isinstance(said, Said) else ()
    found = (*told[:1], *(field(rule, name) for name in RULE), *told[1:])
    return tuple(each for each in found if each)


def _certain(so_far: str, name: str) -> str:
    """Return what words that are still written tell, whatever follows them."""
    said, _ = reasoning.apart(so_far)
    if _may_begin(said, name) or reasoning.may_begin(said):
        return ""
    said = without(said, name)
    # The last of several lines may become a label, too.
    before, line, last = said.rpartition("\n")
    said = before if line and reasoning.may_begin(last) else said
    is_certain = form.fault(said) is None and form.is_whole(said)
    return said if is_certain else ""


def _content(text: str) -> str:
    """Return a text without reasoning; what stands within an object's texts stays there."""
    bare = _bare(text)
    if bare.startswith("{"):
        reader = Reader(bare)
        try:
            reader.value()
        except NotJson:
            pass
        else:
            if reader.at == len(bare):
                return text
    return reasoning.apart(text)[0]


class _CutObject(NotJson):
    """An object that is cut off, with what it holds."""

    def __init__(self, reader: Reader) -> None:
        super().__init__("its JSON has no end")
        self.reader = reader


def _malformed(why: str) -> Unread:
    return Unread("malformed", f"the answer is malformed: {why}")


def _called(calls: str) -> model_actions.Wanted | Unread:
    """Return what the one call of a tool wants, of all calls as JSON."""
    told: Any = None
    try:
        told = json.loads(calls)
        one = told[0] if isinstance(told, list) else told
        function = one.get("function", one)
        given = function["arguments"]
        given = json.loads(given or "{}") if isinstance(given, str) else given
        found = model_actions.wanted({**given, "type": function["name"]})
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        found = None
    if found is None:
        return _malformed("its call of a tool cannot be read")
    if isinstance(told, list) and len(told) > 1:
        return _malformed(f"it calls {len(told)} tools, and one is done at a time")
    return found


def _empty(answered: ModelAnswered, finish: str) -> Unread | None:
    if finish in _LIMIT:
        return Unread("no_response", USED_UP)
    return _malformed("it is reasoning alone") if thought(answered) else None


def _read(text: str, at: int) -> dict[str, object]:
    reader = Reader(text, at)
    try:
        found = reader.value()
    except CutOff:
        raise _NoObject("its JSON has no end") from _CutObject(reader)
    except NotJson as error:
        raise _NoObject(str(error)) from error
    assert isinstance(found, dict), "it begins with a brace"
    return found


def _whole_of(cut: _CutObject, own: str) -> Said | Unread:
    """Return the whole sentences of an answer whose object ran out of tokens."""
    name, begun = cut.reader.unfinished or ("", "")
    said = cut.reader.fields.get(_RESPONSE)
    if isinstance(said, str):
        return _checked(said, cut.reader.fields, own)
    return _plain(begun if name == _RESPONSE else "", own, is_cut=True)


def _plain(text: str, name: str, *, is_cut: bool) -> Said | Unread:
    """Return words that stand for themselves; of those that were cut off whole sentences."""
    said = _unquoted(_bare(text))
    if is_cut:
        said = _sentences(said)
        if not said:
            detail = "the token limit cut the answer off before a sentence was whole"
            return Unread("no_response", detail)
    return _checked(said, {}, name)


def _sentences(text: str) -> str:
    """Return the whole sentences that a text begins with; empty if there are none."""
    end = max((match.end() for match in _SENTENCE_END.finditer(text)), default=0)
    found = text[:end]
    # A number or a letter with a full stop begins a list, and says nothing.
    is_said = " " in found.strip() or _UNSPACED.search(found) is not None
    return found if is_said else ""


def _checked(told: str, fields: Mapping[str, object], name: str) -> Said | Unread:
    """Return words if a person may hear them; an object's may be empty."""
    said, _ = reasoning.apart(told)
    said = without(said, name)
    if told.strip() and form.is_empty(said):
        return _malformed("it is empty")
    why = form.fault(said)
    return _malformed(why) if why is not None else Said(said, fields)


def _bare(text: str) -> str:
    """Return a text without blanks, code fence and mark of an answer around it."""
    stripped = text.strip().lstrip("\ufeff")
    answer = _ANSWER.fullmatch(stripped)
    stripped = answer[1].strip() if answer else stripped
    fenced = _FENCED.fullmatch(stripped)
    return fenced[1].strip() if fenced else stripped


def _is_list(bare: str) -> bool:
    if not bare.startswith("["):
        return False
    reader = Reader(bare)
    try:
        reader.value()
    except NotJson:
        return _LIST.match(bare) is not None
    return not bare[reader.at :].strip()


def _unquoted(text: str) -> str:
    """Return a text that is one JSON text as what that holds."""
    if not text.startswith('"'):
        return text
    reader = Reader(text)
    try:
        found = reader.value()
    except NotJson:
        return text
    is_all = not text[reader.at :].strip()
    return found if is_all and isinstance(found, str) else text


_LABELS = (
    "ai", "bot", "answer", "final answer", "my answer", "reply", "antwort", "meine antwort",
)  # fmt: skip
_MARK = r"(?:\*\*|__|\*|#{1,4}[ \t]+|\[)?"
_END = r"(?:\*\*|__|\*|\])?"


def without(words: str, name: str = "") -> str:
    """Return words without a label before them; `name` is the agent's own."""
    found = _label(name).match(words)
    return words[found.end() :] if found is not None else words


def _may_begin(words: str, name: str = "") -> bool:
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
