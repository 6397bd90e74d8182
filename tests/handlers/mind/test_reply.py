"""One reader of replies: words that may be heard, or why there are none."""

import time
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.mind.characters import replies
from handlers.mind.characters.replies import Unreadable
from handlers.mind.reply import reading
from handlers.mind.reply.near_json import DEEPEST, CutOff, NotJson, Reader
from handlers.mind.reply.reading import Said, Unread
from handlers.mind.stages import formation
from handlers.mind.stages.formation import Fault, Rule
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.state.lessons import Lesson
from tests.handlers.mind.reply_cases import CUT, MALFORMED, SAYS, replied

SECRET = "The guest must not hear of the party."


def read(answered: ModelAnswered) -> Said | Unread | ModelFailed:
    """What is read of a reply."""
    content = reading.understood(answered)
    return (
        content if isinstance(content, ModelFailed) else reading.words(content, "ana")
    )


def reason_of(answered: ModelAnswered) -> str:
    """Why nothing of a reply is said."""
    found = read(answered)
    assert not isinstance(found, Said), found
    return found.reason


@pytest.mark.parametrize(("text", "words"), SAYS.items())
def test_what_a_reply_says(text: str, words: str) -> None:
    """Its response, or its words; nothing around them, and nothing that it thought."""
    found = read(replied(text))
    assert isinstance(found, Said), found
    assert found.words == words


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_a_reply_of_another_form_is_a_failure(text: str) -> None:
    """It is never said, and is called the model's form, not its choice."""
    found = read(replied(text))
    assert not isinstance(found, Said), found
    assert found.reason == "malformed"
    assert found.detail.startswith("the answer is malformed: ")


@pytest.mark.parametrize(("text", "words"), CUT.items())
@pytest.mark.parametrize("finish", ["length", "MAX_TOKENS"])
def test_of_a_reply_that_is_cut_off_whole_sentences_are_said(
    text: str, words: str | None, finish: str
) -> None:
    """What ran out of tokens is no whole answer; with no whole sentence it is none."""
    found = read(replied(text, finish_reason=finish))
    said = found.words if isinstance(found, Said) else None
    assert said == words
    if words is None:
        assert reason_of(replied(text, finish_reason=finish)) == "no_response"


@pytest.mark.parametrize(
    ("fields", "reason", "detail"),
    [
        ({"finish_reason": "length"}, "no_response", reading.USED_UP),
        (
            {"finish_reason": "length", "reasoning": "Hm"},
            "no_response",
            reading.USED_UP,
        ),
        ({"text": "<think>Hm", "finish_reason": "length"}, "no_response", "reasoning"),
        ({"reasoning": SECRET}, "malformed", "reasoning"),
        (
            {"text": "Half of", "finish_reason": "content_filter"},
            "declined",
            "provider",
        ),
        ({"text": "x", "finish_reason": "SAFETY"}, "declined", "provider"),
        ({"refusal": "I cannot."}, "declined", "I cannot."),
        ({"tool_calls": '[{"name": "light"}]'}, "malformed", "a tool call"),
        ({"text": "Done.", "tool_calls": "[{}]"}, "malformed", "a tool call"),
        ({"text": "Done.", "finish_reason": "tool_calls"}, "malformed", "a tool call"),
    ],
)
def test_each_end_has_a_meaning(
    fields: dict[str, str], reason: str, detail: str
) -> None:
    """A limit, a filter, a refusal and a call of a tool are told apart."""
    found = read(replied(**fields))
    assert not isinstance(found, Said)
    assert found.reason == reason
    assert detail in found.detail


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{SECRET}</think>It is sunny.",
        f"{SECRET}</think>It is sunny.",
        f"It is sunny. <think>{SECRET}",
        f'<think>{SECRET}</think>{{"response": "It is sunny."}}',
        f'{{"response": "<think>{SECRET}</think>It is sunny."}}',
        f"<THINK>{SECRET} <think>no</think> yes</THINK>It is sunny.",
        f"<seed:think>{SECRET}</seed:think>It is sunny.",
        f"<|START_THINKING|>{SECRET}<|END_THINKING|>It is sunny.",
        f"<|channel>thought\n{SECRET}<channel|>It is sunny.",
        f"&lt;think&gt;{SECRET}&lt;/think&gt;It is sunny.",
        f"**Reasoning:** {SECRET} **Answer:** It is sunny.",
        f"Thinking...\n{SECRET}\n...done thinking.\n\nIt is sunny.",
    ],
)
def test_what_was_thought_is_kept_and_never_said(text: str) -> None:
    """Whole or while it is written, and with what a server tells apart."""
    answered = replied(text, reasoning="Further.")
    found = read(answered)
    assert isinstance(found, Said)
    assert SECRET not in found.words
    assert SECRET in reading.thought(answered)
    assert reading.thought(answered).startswith("Further.")
    for end in range(len(text) + 1):
        assert "guest" not in reading.words_so_far(text[:end])


_LONG = 40_000
"""Characters, about as many as are kept of a reply."""


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\n" * _LONG + "b",
        'a"' + " " * _LONG + "b",
        "x " + "{\u201e" * (_LONG // 2),
        "x " + '{"a"/*' * (_LONG // 6),
        'x {"a":1} ' * (_LONG // 10),
        'x {"response": ' * (_LONG // 15),
        '{"a":' + "1" * _LONG + "}",
        "x" + "{" * _LONG,
        "[" * _LONG,
        "<think>" * (_LONG // 7),
        "A. " * (_LONG // 3),
        "Reasoning: " + "Answer" * (_LONG // 6),
        "Reasoning:" + " " * _LONG + "x",
        '{"response": "' + " *" * (_LONG // 2) + '"}',
    ],
    ids=lambda text: text[:12],
)
def test_no_reply_takes_long_to_read(text: str) -> None:
    """What takes the square of its length would hold up all agents for seconds."""
    began = time.process_time()
    for finish in ("stop", "length"):
        read(replied(text, finish_reason=finish))
    reading.words_so_far(text)
    with suppress(Unreadable):
        replies.read_object(text)
    # Three times what the slowest takes on a slow machine; the square takes ten.
    assert time.process_time() - began < 3.0


@pytest.mark.parametrize("deep", [DEEPEST, DEEPEST + 1, 900, 100_000])
def test_how_deep_is_read_depends_on_nothing_else(deep: int) -> None:
    """Not on Python's version, nor on how deep the caller stands."""
    text = '{"a":' * deep + "1" + "}" * deep
    if deep == DEEPEST:
        assert replies.read_object(text)
        return
    with pytest.raises(Unreadable, match="nested too deep"):
        replies.read_object(text)


CERTAIN = [
    # An object that turns out to be thought is taken back.
    text
    for text in SAYS
    if "a draft" not in text and '"Hm.</think>' not in text
]


@pytest.mark.parametrize("text", CERTAIN)
def test_what_is_let_out_early_begins_what_is_said(text: str) -> None:
    """While a reply is written nothing is told that its end takes back."""
    words = SAYS[text]
    for end in range(len(text) + 1):
        so_far = reading.words_so_far(text[:end], "ana")
        assert words.startswith(so_far.rstrip()), (text[:end], so_far)


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_no_sign_of_a_form_is_let_out_early(text: str) -> None:
    """No piece of JSON, and no mark of a template."""
    for end in range(len(text[:200]) + 1):
        so_far = reading.words_so_far(text[:end], "ana")
        assert not set(so_far) & set('{}[]"<>|'), so_far
        assert "ssistant" not in so_far


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("Mind the", ""),
        ('{"resp', ""),
        ('{"response": "Mind\\n the', "Mind\n the"),
        ('{"response": "Mind \\u00', "Mind"),
        ('{"response": "Mind \\ud83d\\u', "Mind"),
        ('```json\n{"response": "Mind', "Mind"),
        ("```js", ""),
        ('Sure! {"response": "Mind', ""),
        ('{"predicted_success": 0.5, "response": "Mi', "Mi"),
        ("{'response': 'Mi", "Mi"),
        ('{"response": ["Mind', ""),
        ('{"response": "Mind"} and more', "Mind"),
        ("{mind the step}", ""),
        ('{"response": "\ud800', ""),
        ('{"response": "Mind <', ""),
        ('{"response": "Mind"', "Mind"),
        ('<think>Hm.</think>{"response": "Mi', "Mi"),
    ],
)
def test_what_is_said_so_far(text: str, words: str) -> None:
    """Of an object its response; other words only once all are there."""
    assert reading.words_so_far(text) == words


def test_a_rule_and_a_goal_are_compared_too() -> None:
    """Whatever of a reply is embedded; of a failure nothing."""
    rule = '{"condition": "a wolf howls", "message": "make a fire"}'
    assert reading.texts(replied(rule)) == ("a wolf howls", "make a fire")
    told = '{"response": "Hi", "goal": "to sleep"}'
    assert reading.texts(replied(told)) == ("Hi", "to sleep")
    assert reading.texts(replied("Hi")) == ("Hi",)
    assert reading.texts(replied("")) == ()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('abc_é"\\'), inner),
    max_leaves=20,
)


@given(JSON)
def test_json_is_read_as_json(value: Any) -> None:
    """Whatever is JSON means what it does to any other reader."""
    assert Reader(orjson.dumps(value).decode()).value() == value


@given(st.dictionaries(st.text("ab"), JSON, min_size=1))
def test_no_beginning_is_taken_for_the_whole(value: dict[str, Any]) -> None:
    """An object that is cut off anywhere is known to be."""
    text = orjson.dumps(value).decode()
    # At fifty places at most, for each reads the whole beginning.
    for end in range(0, len(text), 1 + len(text) // 50):
        with pytest.raises(CutOff):
            Reader(text[:end]).value()


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing that a model can send raises anything else, or is read with half a pair."""
    found = read(replied(text))
    if isinstance(found, Said):
        assert "<think>" not in found.words
    reading.words_so_far(text)
    try:
        Reader(text).value()
    except NotJson:
        return


@pytest.mark.parametrize("hidden", [f"<think>{SECRET}</think>", "<|im_end|>"])
@pytest.mark.parametrize("part", reading.RULE)
def test_a_rule_is_learnt_only_of_words_that_may_be_said(
    part: str, hidden: str
) -> None:
    """It would be said again and again, long after anybody looked at the reply."""
    words = "say that it is very cold outside and that a coat would help today"
    told = dict.fromkeys(reading.RULE, words) | {"type": "warn", "when": None}
    lesson = Lesson(
        domain="home",
        source="hall",
        type="reading",
        text="cold",
        fields="{}",
        said="A coat.",
    )
    assert isinstance(formation.read(orjson.dumps(told).decode(), lesson), Rule)
    told[part] = f"{hidden}{words}"
    fault = formation.read(orjson.dumps(told).decode(), lesson)
    assert isinstance(fault, Fault)
    assert fault.reason == "unreadable"
