"""What real servers refuse of a request, in their words, and how they answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Body = dict[str, Any]
Refuses = Callable[[Body], str | None]


def openai_reasoning(body: Body) -> str | None:
    """What OpenAI's o series and GPT-5 do not take."""
    if "max_tokens" in body:
        return (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead."
        )
    if body.get("temperature", 1) != 1:
        return (
            f"Unsupported value: 'temperature' does not support {body['temperature']} with"
            " this model. Only the default (1) value is supported."
        )
    return None


def unverified(body: Body) -> str | None:
    """What OpenAI keeps from organisations that it does not know."""
    if body.get("stream"):
        return "Your organization must be verified to stream this model."
    return openai_reasoning(body)


def no_effort(body: Body) -> str | None:
    """An early model of the o series."""
    if "reasoning_effort" in body:
        return "Unsupported parameter: 'reasoning_effort' is not supported with this model."
    return openai_reasoning(body)


def no_system(body: Body) -> str | None:
    """A chat template without that role, as Gemma's is."""
    roles = [each["role"] for each in body.get("messages", ())]
    return "System role not supported" if "system" in roles else None


def anthropic(body: Body) -> str | None:
    """Anthropic's Messages API."""
    if "max_tokens" not in body:
        return "max_tokens: Field required"
    if "thinking" in body and body.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled: not supported."
    return None


def anthropic_later(body: Body) -> str | None:
    """A later model of theirs, which chooses its own temperature."""
    if "temperature" in body:
        return "temperature: Extra inputs are not permitted"
    return anthropic(body)


def gemini(body: Body) -> str | None:
    """A model of Google's that does not think."""
    if "thinkingConfig" in body.get("generationConfig", {}):
        return "Thinking is not supported: unknown name thinkingConfig"
    return None


def ollama(body: Body) -> str | None:
    """A model that Ollama knows not to think."""
    return f'"{body["model"]}" does not support thinking' if body.get("think") else None


def only(*known: str) -> Refuses:
    """A server that takes these fields alone, as strict schemas do."""

    def refuses(body: Body) -> str | None:
        odd = [name for name in body if name not in known]
        return f"body.{odd[0]}: Extra inputs are not permitted" if odd else None

    return refuses


MISTRAL = only(
    "model", "messages", "temperature", "max_tokens", "stream", "response_format"
)
BARE = only("model", "messages", "max_tokens", "stream")

CASES: Sequence[tuple[str, Refuses]] = [
    ("openai/gpt-5-mini", openai_reasoning),
    ("openai/gpt-5", openai_reasoning),
    ("openai/gpt-5-nano", unverified),
    ("openai/gpt-5.1", openai_reasoning),
    ("openai/o1", no_effort),
    ("openai/o3-mini", openai_reasoning),
    ("openai/o4-mini", unverified),
    ("openai/gpt-4o-mini", lambda _: None),
    ("anthropic/claude-sonnet-4-5", anthropic),
    ("anthropic/claude-3-5-haiku-latest", anthropic),
    ("anthropic/claude-opus-4-6", anthropic_later),
    ("gemini/gemini-2.0-flash", gemini),
    ("gemini/gemini-2.5-flash", gemini),
    ("mistral/mistral-small-latest", MISTRAL),
    ("mistral/magistral-small-latest", MISTRAL),
    ("ollama/llama3.2", ollama),
    ("ollama_chat/qwen3:4b", ollama),
    ("openai/my-local-model", BARE),
    ("openai/my-local-reasoner", openai_reasoning),
    ("openai/gemma-3-270m", no_system),
    ("llamafile/llama.cpp", BARE),
    ("hosted_vllm/qwen3", BARE),
]
"""Models as litellm names them, with what they refuse."""


def answer(path: str, body: Body, text: str) -> Mapping[str, Any] | None:
    """Return the answer of a server that has an API of its own; None: it has OpenAI's."""
    if path.endswith("/messages"):
        return {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 11, "output_tokens": 4},
        }
    if "generateContent" in path:
        content = {"role": "model", "parts": [{"text": text}]}
        usage = {
            "promptTokenCount": 11,
            "candidatesTokenCount": 4,
            "totalTokenCount": 15,
        }
        return {
            "candidates": [{"content": content, "finishReason": "STOP"}],
            "usageMetadata": usage,
        }
    ends = {"done": True, "done_reason": "stop", "model": body.get("model", "")}
    counts = {"prompt_eval_count": 11, "eval_count": 4}
    if path.endswith("/api/generate"):
        return {"response": text, **ends, **counts}
    if path.endswith("/api/chat"):
        message = {"role": "assistant", "content": text}
        return {"message": message, **ends, **counts}
    if path.endswith("/api/show"):
        return {"template": "", "model_info": {}, "capabilities": ["completion"]}
    return None
