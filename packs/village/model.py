"""A model that costs nothing: what villagers say and plan, by rules, over the API of OpenAI.

Run it by path, and name it to `echoic up`; the README of the pack says how. The same question
has the same answer, and it knows no more than its prompt says.
"""

import argparse
import hashlib
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "villager"
_PORT = 8377

Answer = Callable[[str, str], str]
"""Return what the model says, by the system prompt and the prompt."""

_WANTED = ("campfire", "lean-to", "storage-chest", "workbench")
"""What it plans, one after the other, where that does not stand yet."""
_STOCKED = ("wood", "stone", "leaves", "plant_fiber")
_OPENS = (
    "The berries are good today.",
    "Have you been to the river?",
    "I think it will rain.",
    "We could do with another fire.",
    "Where is the best wood, do you know?",
)
_ANSWERS = (
    "So I have heard.",
    "I was there this morning.",
    "Let us see what tomorrow brings.",
    "A fire would do us good.",
    "You may be right.",
)
OPENING, _LEAVING = 0.1, 0.3
"""How likely it opens a conversation when it is asked, and leaves the one that it is in."""


def answer(salt: str, prompt: str, opening: float = OPENING) -> str:
    """Return what it says, in the form that the prompt asks for; `salt` is whose prompt."""
    if "Available buildings:" not in prompt:
        return json.dumps(_says(salt, prompt, opening))
    plan = _plans(salt, prompt)
    if "Needs:" not in prompt:
        return json.dumps(plan)
    # Of one model everything is asked at once.
    said = _says(salt, prompt, opening)
    return json.dumps(
        said | {"action": [*filter(None, [said["action"]]), *plan["action"]]}
    )


def _says(salt: str, prompt: str, opening: float) -> dict[str, Any]:
    """Return what a talker says: it answers what it hears, and opens a talk now and then."""
    is_heard, is_over = "You are in a conversation" in prompt, "say goodbye" in prompt
    is_over = is_over or _draw(salt, prompt, "leaves") < _LEAVING
    words, action = "", None
    if is_heard:
        words = "Goodbye, then." if is_over else _of(_ANSWERS, salt, prompt)
        action = {"type": "leave_conversation"} if is_over else None
    elif "talk" in _part(prompt, "Tools:") and _draw(salt, prompt, "opens") < opening:
        words, action = _of(_OPENS, salt, prompt), {"type": "talk"}
    wants = {"type": "group", "description": "Have a fire that warms us all"}
    return {
        "thinking": "It is a day like others.",
        "speaking": words,
        "action": action,
        "goal": None if "You want" in prompt else wants,
        "priorities": None,
    }


def _plans(salt: str, prompt: str) -> dict[str, Any]:
    """Return what an executor plans: the next thing that is neither there nor planned.

    If nothing is missing it stocks up on everything, so that it is not asked for hours; but
    not while something is to be built, for what is queued goes before that.
    """
    planned = _part(prompt, "Planned builds", 400)
    known = _part(prompt, "Standing already:") + planned
    offered = _part(prompt, "Available buildings:")
    name = next((one for one in _WANTED if one in offered and one not in known), None)
    if name is None and planned and "(none)" not in planned:
        return {"thinking": "First what is planned.", "action": [], "priorities": None}
    plan = {"type": "plan_build", "building": name, "priority": "normal"}
    first = int(_draw(salt, prompt, "stocks") * len(_STOCKED))
    stocked = (*_STOCKED[first:], *_STOCKED[:first])
    gather = [{"type": "gather", "target": each, "amount": 40} for each in stocked]
    return {
        "thinking": f"There is no {name} yet." if name else "Stocks are always wanted.",
        "action": gather
        if name is None
        else [plan | {"reason": "the village needs it"}],
        "priorities": None,
    }


def _part(prompt: str, label: str, room: int = 0) -> str:
    """Return the line that begins with a label, or so many characters after it."""
    _, found, rest = prompt.partition(label)
    if not found:
        return ""
    return rest[:room].split("\n\n")[0] if room else rest.split("\n")[0]


def _of(lines: tuple[str, ...], salt: str, prompt: str) -> str:
    return lines[int(_draw(salt, prompt, "line") * len(lines))]


def _draw(*parts: str) -> float:
    """Return a number from 0 to 1 that depends on the parts alone."""
    digest = hashlib.blake2b("|".join(parts).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


class _Handler(BaseHTTPRequestHandler):
    answer: Answer
    name: str

    def do_POST(self) -> None:
        """Answer a chat completion."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        system, user = (str(each["content"]) for each in body["messages"][-2:])
        text = type(self).answer(system, user)
        usage = {"prompt_tokens": len(system + user) // 4}
        usage["completion_tokens"] = len(text) // 4
        usage["total_tokens"] = sum(usage.values())
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        data = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": self.name,
                "choices": [choice],
                "usage": usage,
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def server(
    port: int = _PORT, answer: Answer = answer, name: str = NAME
) -> ThreadingHTTPServer:
    """Return a model as a server on a loopback port; 0: any that is free."""
    handler = type(
        "Handler", (_Handler,), {"answer": staticmethod(answer), "name": name}
    )
    made = ThreadingHTTPServer(("127.0.0.1", port), handler)
    made.daemon_threads = True
    return made


def main(
    answer: Answer = answer, name: str = NAME, about: str | None = __doc__
) -> None:
    """Answer until it is interrupted."""
    parser = argparse.ArgumentParser(prog=f"{name} model", description=about)
    parser.add_argument("--port", type=int, default=_PORT)
    with server(parser.parse_args().port, answer, name) as serving:
        print(f"it answers at http://127.0.0.1:{serving.server_port}/v1", flush=True)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
