"""Replies of models, and what is to be read of them: words, or why there are none."""

from schemas.messages.results import ModelAnswered

SUNNY = "It is sunny."


def replied(text: str = "", **more: str) -> ModelAnswered:
    """A reply as it was received."""
    fields = {"ask_id": "a", "request_hash": "r", "model": "double", "text": text}
    return ModelAnswered.model_validate(fields | more)


SAYS: dict[str, str] = {
    # In the form that was asked for, or nearly so.
    '{"response": "It is sunny.", "predicted_success": 0.8}': SUNNY,
    '```json\n{"response": "It is sunny."}\n```': SUNNY,
    'Sure! {"response": "It is sunny."}': SUNNY,
    'Here it is:\n```json\n{"response": "It is sunny."}\n```\nAnything else?': SUNNY,
    '{"response": "It is sunny."} Is that all right?': SUNNY,
    '{"response": "It is sunny.", "predicted_success": 0.8,}': SUNNY,
    "{'response': 'It is sunny.', 'predicted_success': None}": SUNNY,
    "{“response”: “It is sunny.”}": SUNNY,
    "{„response“: „It is sunny.“}": SUNNY,
    "{\u2018response\u2019: \u2018It is sunny.\u2019}": SUNNY,
    '{response: "It is sunny."}': SUNNY,
    '{{"response": "It is sunny."}}': SUNNY,
    '{"response": "It is sunny." /* it is */}': SUNNY,
    '{\n  // what I say\n  "response": "It is sunny."\n}': SUNNY,
    '{"response": "It is sunny.", "sure": True}': SUNNY,
    '\ufeff{"response": "It is sunny."}': SUNNY,
    '{"response": "It is sunny."}\n{"response": "It is raining."}': SUNNY,
    '{"response": "It is sunny."} {"resp': SUNNY,
    '{"response": "NaN is a number, and {so} on"}': "NaN is a number, and {so} on",
    '{"response": "\\ud83d\\ude00"}': "😀",
    '{"response": "One\nTwo"}': "One\nTwo",
    '{"response": "She said \\"no\\"."}': 'She said "no".',
    '{"predicted_success": 0.8, "response": "It is sunny."}': SUNNY,
    '{"thought": {"response": "no"}, "response": "It is sunny."}': SUNNY,
    '{"response": ""}': "",
    '{"response": "  "}': "",
    # Words that stand for themselves.
    "It is sunny.": SUNNY,
    '"It is sunny."': SUNNY,
    "```\nIt is sunny.\n```": SUNNY,
    "I could {maybe} say it": "I could {maybe} say it",
    "{laughs} It is sunny.": "{laughs} It is sunny.",
    "[1] The almanac says so.": "[1] The almanac says so.",
    "[sighs] It is sunny.": "[sighs] It is sunny.",
    "An object looks like {}": "An object looks like {}",
    "NaN": "NaN",
    "None.": "None.",
    "It is 3 < 4, and 5 > 4.": "It is 3 < 4, and 5 > 4.",
    "The user is away, the system is up.": "The user is away, the system is up.",
    'His response: "no".': 'His response: "no".',
    # What it thought is not said.
    "<think>The guest must not hear of it.</think>It is sunny.": SUNNY,
    "<think>\n\n</think>\n\nIt is sunny.": SUNNY,
    "<thinking>Hm.</thinking> It is sunny.": SUNNY,
    '<Think type="deep">Hm.</Think>It is sunny.': SUNNY,
    "<reasoning>Hm.</reasoning>It is sunny.": SUNNY,
    "[THINK]Hm.[/THINK]It is sunny.": SUNNY,
    "◁think▷Hm.◁/think▷It is sunny.": SUNNY,
    "The guest must not hear of it.</think>It is sunny.": SUNNY,
    "It is sunny.<think>The guest must not": SUNNY,
    "It is sunny.<think>Was it?</think>": SUNNY,
    "<think>a<think>b</think>c</think>It is sunny.": SUNNY,
    "<think>One.</think><think>Two.</think>It is sunny.": SUNNY,
    '<think>I could {maybe} say</think>{"response": "It is sunny."}': SUNNY,
    '<think>{"response": "a draft"}</think>{"response": "It is sunny."}': SUNNY,
    '{"response": "a draft"} no.</think>{"response": "It is sunny."}': SUNNY,
    '{"response": "<think>Hm.</think>It is sunny."}': SUNNY,
    '{"response": "Hm.</think>It is sunny."}': SUNNY,
    "<think>Hm.</think><answer>It is sunny.</answer>": SUNNY,
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>"
    "It is sunny.": SUNNY,
}
"""What is said, by the reply."""

MALFORMED: dict[str, str] = {
    # JSON that has no one meaning.
    "NaN": '{"response": "x", "predicted_success": NaN}',
    "Infinity": '{"response": "x", "predicted_success": Infinity}',
    "-Infinity": '{"predicted_success": -Infinity, "response": "x"}',
    "a number beyond all": '{"response": "x", "predicted_success": 1e999}',
    "lone surrogate": '{"response": "x \\ud800"}',
    "low surrogate first": '{"response": "\\udc00\\ud800"}',
    "fenced": '```json\n{"response": "x", "predicted_success": NaN}\n```',
    "fenced, cut off": '```json\n{"response": "It is',
    "in a sentence": 'Sure! Here is what I think: {"response": "well',
    "cut off": '{"response": "It is sun',
    "cut off at the name": '{"resp',
    "cut off before the end": '{"response": "It is sunny."',
    "cut off in an escape": '{"response": "It is \\u00',
    "only a brace": "{",
    "said twice": '{"response": "one", "response": "two"}',
    "quotes within": '{"response": "She said "no"."}',
    "no comma": '{"response": "x" "sure": 1}',
    "nested too deep": '{"a":' * 2_000,
    "closed by half": '{"response": "secret",,}</think',
    # Other forms than the one that was asked for.
    "a list": "[1,2]",
    "a list of texts": '["It is sunny."]',
    "a list of objects": '[{"say": "It is sunny."}, ]',
    "a list of answers": '[{"response": "It is sunny."}]',
    "a fenced list": "```\n[1, 2]\n```",
    "an empty list": "[]",
    "an empty object": "{}",
    "a wrong key": '{"text": "It is sunny."}',
    "a key in capitals": '{"Response": "It is sunny."}',
    "a wrong key in a sentence": 'Sure! {"text": "It is sunny."}',
    "a number": '{"response": 7}',
    "a list as response": '{"response": ["It is sunny."]}',
    "an object as response": '{"response": {"text": "It is sunny."}}',
    "null as response": '{"response": null}',
    "python's null": "{'response': None}",
    "null": "null",
    "null in quotes": '{"response": "null"}',
    "JSON in JSON": '{"response": "{\\"response\\": \\"x\\"}"}',
    "no braces": '"response": "It is sunny."',
    "a name and a colon": "response: It is sunny.",
    "the end of an object": 'It is sunny."}',
    "a tag": "<response>It is sunny.</response>",
    # Nothing.
    "empty": "",
    "blank": " \n",
    "invisible": "\u200b",
    "empty quotes": '""',
    "an empty fence": "```\n```",
    "only reasoning": "<think>Hm.</think>",
    "reasoning without end": "<think>The guest must not",
    "reasoning as response": '{"response": "<think>Hm.</think>"}',
    # What no person should ever see.
    "a mark at the end": "It is sunny.<|im_end|>",
    "a mark in JSON": '{"response": "It is sunny.<|eot_id|>"}',
    "the next turn": "It is sunny.<|im_end|>\n<|im_start|>user\nAnd now?",
    "an end of text": "It is sunny.</s>",
    "an instruction": "[INST] Say it. [/INST] It is sunny.",
    "gemma's mark": "It is sunny.<end_of_turn>",
    "deepseek's mark": "It is sunny.<｜end▁of▁sentence｜>",  # noqa: RUF001
    "a role": "Assistant: It is sunny.",
    "a role in JSON": '{"response": "Assistant: It is sunny."}',
    "only a role": "assistant",
    "a role and a line": "model\nIt is sunny.",
    "a dialogue": "It is sunny.\nUser: And now?\nAssistant: Still.",
    "a heading": "### Response: It is sunny.",
    "a tool call in words": '<tool_call>{"name": "light"}</tool_call>',
    "a call of Mistral": '[TOOL_CALLS] [{"name": "light"}]',
    "a call as an object": '{"name": "light", "arguments": {"on": true}}',
}
"""Replies whose form is none that was asked for, by what is wrong with them."""

CUT: dict[str, str | None] = {
    "It is sunny. Take a hat before you leave you shou": SUNNY,
    "It is sunny.": SUNNY,
    "It is sunny (“very.”) Take": "It is sunny (“very.”)",
    "Es ist sonnig! Nimm ei": "Es ist sonnig!",
    "今天很热。别忘了带": "今天很热。",
    "Before you leave you shou": None,
    "1. Take your ha": None,
    "It costs 3.5": None,
    '{"response": "It is sunny. Take a ha': SUNNY,
    '{"response": "It is sunny.", "predicted_su': SUNNY,
    '{"response": "It is sun': None,
    '{"predicted_success": 0.': None,
    '{"response": "It is sunny. Take a hat"}': "It is sunny. Take a hat",
    "<think>Hm.</think>It is sunny. Take": SUNNY,
}
"""What is said of replies that ran out of tokens; None: nothing."""
