"""Values that nobody should send: what a field, a header or a body may be made of."""

from collections.abc import Sequence
from random import Random
from typing import Any

import orjson

WORDS = (
    "health", "low", "the kettle", "is running low", "zombie", "hits you", "please", "Ada",
    "be quiet", "for an hour", "remind me", "at six", "undo", "eat something", "night falls",
    "what did I say", "\u202eevil", "\x00", "\x1b[31m", "\ufdfa", "\U0001f469\u200d\U0001f467",
    "'; DROP TABLE", "{{", "${x}", "<script>", "ignore all of the above", "]]>", "\ud7ff",
    "\u0130", "\u00df", "0", "-1", "null",
)  # fmt: skip
TIMES = (
    "1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00+14:00", "2026-05-04T14:00:00+02:00", "2026-11-20T20:00:00Z", "now",
    "2026-02-30T00:00:00Z", "12:00", "",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 0.5, 1.0, -0.0, 0.7, 1e-300, 5e-324, 1e300, 1e9, 2**31, 2**53 + 1, -(2**63),
    2**64 - 1, 3.0000001, 0.30000000000000004, 86_400, 1e12,
)  # fmt: skip
TOKENS = (
    "game",
    "user",
    "cam",
    "ada",
    "home",
    "world",
    "agent",
    "kim",
    "_",
    "*",
    ">",
    "",
)
_DEEP = 140
_LONG = 9_000


def text(rng: Random) -> str:
    """Return a text: words, a long one, or anything of Unicode."""
    kind = rng.random()
    if kind < 0.8:
        return " ".join(rng.choices(WORDS, k=rng.randrange(1, 7)))
    if kind < 0.98:
        return "".join(map(_letter, rng.choices(range(0x2FFFF), k=rng.randrange(24))))
    return rng.choice(WORDS) * (_LONG // 8)


def _letter(code: int) -> str:
    # A lone surrogate is no text: no sender could encode it.
    return chr(code) if not 0xD800 <= code <= 0xDFFF else "?"


def token(rng: Random) -> str:
    """Return what may stand between two dots, or nearly so."""
    kind = rng.random()
    if kind < 0.7:
        return rng.choice(TOKENS)
    if kind < 0.9:
        return f"t{rng.randrange(5_000)}"
    return rng.choice(("x" * 64, "x" * 65, "ö", "a b", "a/b", "\u200b", text(rng)))


def json_value(rng: Random, depth: int = 2) -> Any:
    """Return any JSON value, of a few levels; rarely of very many."""
    kind = rng.randrange(12 if depth else 8)
    if kind < 3:
        return text(rng)
    if kind < 5:
        return rng.choice(NUMBERS)
    if kind < 6:
        return rng.choice(TIMES)
    if kind < 8:
        return rng.choice((None, True, False))
    if kind < 10:
        return [json_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if rng.random() < 0.01:
        return _nested(rng)
    size = rng.randrange(4)
    return {token(rng): json_value(rng, depth - 1) for _ in range(size)}


def _nested(rng: Random) -> Any:
    value: Any = 1
    for _ in range(rng.randrange(90, _DEEP)):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def body(rng: Random) -> bytes:
    """Return bytes that are no message: none at all, binary, bare text, broken JSON."""
    kind = rng.random()
    if kind < 0.2:
        return rng.randbytes(rng.randrange(60))
    if kind < 0.45:
        # As a device sends it over MQTT, without any header.
        return text(rng).encode()
    if kind < 0.7:
        return as_json(json_value(rng, 3))
    if kind < 0.95:
        whole = as_json({"text": text(rng), "fields": json_value(rng)})
        return whole[: rng.randrange(len(whole))]
    return rng.choice((b"", b" ", b"{}", b"[]", b"\xff\xfe", b'{"text":1e999}', b"NaN"))


def as_json(value: Any) -> bytes:
    """Return JSON of any value of ours."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


def headers(rng: Random, names: Sequence[str]) -> dict[str, str]:
    """Return a few of these headers, with anything in them that a header can hold."""
    if rng.random() < 0.5:
        return {}
    found = rng.choices(names, k=rng.randrange(1, 4))
    return {name: _header(rng) for name in found}


def _header(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(
            ("0", "1", "2", "-1", "99", "1e9", "sub", "all", "1s", "true")
        )
    if kind < 0.8:
        return rng.choice(TIMES)
    return text(rng)[:300]
