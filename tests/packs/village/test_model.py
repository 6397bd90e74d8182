"""The model of rules: it answers in the form that is asked for, and the same each time."""

import json
from threading import Thread
from urllib.request import Request, urlopen

from packs.village import model

EXECUTOR = """You are asked as something is done.

What moves you
- Standing already: {"campfire": 1}

Available buildings: campfire, lean-to, tent

Planned builds
- tent, normal

Done lately
- build campfire: succeeded"""


def test_it_plans_what_neither_stands_nor_is_planned() -> None:
    """Then it waits for what is planned, and then has stocks brought."""
    planned = json.loads(model.answer("", EXECUTOR))["action"]
    assert [each["building"] for each in planned] == ["lean-to"]
    all_ = EXECUTOR.replace("- tent, normal", "- tent, normal\n- lean-to, normal")
    assert json.loads(model.answer("", all_))["action"] == []
    built = EXECUTOR.replace("- tent, normal", "(none)").replace(
        "Standing already:", "Standing already: lean-to,"
    )
    wanted = json.loads(model.answer("", built))["action"]
    assert {each["type"] for each in wanted} == {"gather"}
    assert len({each["target"] for each in wanted}) == 4


def test_it_answers_what_it_hears() -> None:
    """With a few words, or with its last ones; the same question has the same answer."""
    heard = 'You are in a conversation; the latest:\n- "luna": "Hm {}?"'
    said = [json.loads(model.answer("aria", heard.format(n))) for n in range(50)]
    assert all(each["speaking"] for each in said)
    leaving = [each for each in said if each["action"]]
    assert 5 < len(leaving) < 25
    assert {each["action"]["type"] for each in leaving} == {"leave_conversation"}
    last = json.loads(model.answer("aria", f"{heard}\nIt is time to say goodbye."))
    assert last["action"] is not None
    assert model.answer("aria", heard) == model.answer("aria", heard)


def test_it_opens_a_talk_only_with_somebody() -> None:
    """And seldom: where the tool is offered."""
    alone = [json.loads(model.answer("a", f"{n}\nTools: none")) for n in range(100)]
    assert not any(each["speaking"] for each in alone)
    near = [json.loads(model.answer("a", f"{n}\nTools: talk")) for n in range(200)]
    opened = [each for each in near if each["speaking"]]
    assert 5 < len(opened) < 40
    assert all(each["action"] == {"type": "talk"} for each in opened)


def test_it_answers_over_http() -> None:
    """As a server of the usual API does."""
    with model.server(0) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        told = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
        url = f"http://127.0.0.1:{serving.server_port}/v1/chat/completions"
        asked = Request(url, json.dumps({"messages": told}).encode())
        with urlopen(asked) as reply:
            body = json.load(reply)
        serving.shutdown()
    assert body["choices"][0]["message"]["content"] == model.answer("a", "b")
    assert body["usage"]["total_tokens"] > 0
