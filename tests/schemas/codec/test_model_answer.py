"""What a model's text says, and what of it no person may hear."""

import pytest

from schemas.codec import model_answer

SAYS = {
    '{"response": "It is sunny.", "predicted_success": 0.8}': "It is sunny.",
    '```json\n{"response": "It is sunny."}\n```': "It is sunny.",
    'Sure! {"response": "It is sunny."}': "It is sunny.",
    '{"response": "NaN is a number, and {so} on"}': "NaN is a number, and {so} on",
    '{"response": "\\ud83d\\ude00"}': "😀",
    '{"response": "It is sunny."} {"resp': "It is sunny.",
    '[{"response": "It is sunny."}, ]': "It is sunny.",
    "It is sunny.": "It is sunny.",
    "I could {maybe} say it": "I could {maybe} say it",
    "{laughs} It is sunny.": "{laughs} It is sunny.",
    "[1] The almanac says so.": "[1] The almanac says so.",
    "[sighs] It is sunny.": "[sighs] It is sunny.",
    "An object looks like {}": "An object looks like {}",
    "NaN": "NaN",
}
"""Words, by the text that says them."""

UNREADABLE = {
    "NaN": '{"response": "x", "predicted_success": NaN}',
    "Infinity": '{"response": "x", "predicted_success": Infinity}',
    "-Infinity": '{"predicted_success": -Infinity, "response": "x"}',
    "lone surrogate": '{"response": "x \\ud800"}',
    "lone surrogate, raw": '{"response": "x \ud800"}',
    "low surrogate first": '{"response": "\\udc00\\ud800"}',
    "trailing comma": '{"response": "It is sunny.", "predicted_success": 0.8,}',
    "single quotes": "{'response': 'It is sunny.'}",
    "curly quotes": "{“response”: “It is sunny.”}",
    "no quotes": '{response: "It is sunny."}',
    "two objects": '{"response": "one"}\n{"response": "two"}',
    "fenced": '```json\n{"response": "x", "predicted_success": NaN}\n```',
    "fenced, cut off": '```json\n{"response": "It is',
    "in a sentence": 'Sure! Here is what I think: {"response": "well',
    "braces before": '<think>I could {maybe}</think>{"response": "good words", }',
    "cut off": '{"response": "It is sun',
    "cut off at the name": '{"resp',
    "only a brace": "{",
    "a list": "[1,2]",
    "a list of texts": '["It is sunny."]',
    "a list of objects": '[{"say": "It is sunny."}, ]',
    "a fenced list": "```\n[1, 2]\n```",
    "python": "{'response': None}",
    "a comment": '{"response": "x" /* sunny */}',
    "nested too deep": '{"a":' * 2_000,
}


@pytest.mark.parametrize(("text", "words"), SAYS.items())
def test_words_are_said_whatever_is_around_them(text: str, words: str) -> None:
    """Of an object its response; a text that is meant for a person as it is."""
    assert model_answer.fault(text) is None
    assert model_answer.said(text) == words


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_json_that_cannot_be_read_is_never_said(text: str) -> None:
    """Whole it is refused, and in parts what is said so far is no JSON either."""
    assert model_answer.fault(text) is not None
    for end in range(len(text[:200])):
        so_far = model_answer.said_so_far(text[:end])
        assert not set(so_far) & set('{}[]"'), so_far


def test_what_is_wrong_is_named() -> None:
    """Cut off, of another kind, or not JSON."""
    found = {each: model_answer.fault(UNREADABLE[each]) for each in UNREADABLE}

    assert found["cut off"] == found["in a sentence"] == "its JSON has no end"
    assert found["a list"] == "it is a list, and no object"
    assert found["NaN"] == found["two objects"] == "its JSON cannot be read"
