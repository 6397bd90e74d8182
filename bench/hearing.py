"""How many of a person's words are understood without a model, and how many are misread.

Run as `python -m bench.hearing`. The commands and the near misses of `packs/phrases/tests`
are ours: half of the commands, by their digest, nobody tuned on. Readers' were written for
tuning. Those of strangers, who knew the intents alone, were never looked at.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from echoic.packs.bundled import PACKS
from echoic.packs.phrases import shipped
from echoic.packs.yaml_positions import read
from schemas.values.phrase_matching import heard
from schemas.values.phrases import Heard

FOLDER = PACKS / "phrases" / "tests"
_NAMES = ("echo",)
_KNOWN = ("en", "de")


def commands() -> Iterator[tuple[str, str, str, str]]:
    """Yield language, meaning, words and what is to be read of them: a topic, a span."""
    for language, by_means in _read("commands.yaml").items():
        for means, lines in by_means.items():
            for line in lines:
                text, _, wanted = line.partition(" => ")
                yield language, means, text, wanted


def near_misses() -> Iterator[tuple[str, str]]:
    """Yield language and words of what is no command."""
    for language, lines in _read("near_misses.yaml").items():
        yield from ((language, each) for each in lines)


def is_held_out(text: str) -> bool:
    """Tell whether nobody tunes on it."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


def understood(text: str) -> Heard | None:
    """Return what is heard in words; None for what answers a question nobody asked."""
    found = heard(text, shipped(_KNOWN), _NAMES, supposes=True)
    return None if found is not None and found.means in ("yes", "no") else found


def outcome(means: str, text: str, wanted: str = "") -> str:
    """Return whether words are understood, asked back, misread or not understood."""
    found = understood(text)
    if found is None:
        return "not understood"
    if found.is_unclear:
        return "asked back" if found.means == means else "misread"
    read_ = (found.topic, found.named, str(int(found.span_s or 0)))
    is_right = found.means == means and (not wanted or wanted in read_)
    return "understood" if is_right else "misread"


def _read(name: str) -> Any:
    return read(FOLDER / name).value


def _own() -> Iterator[tuple[str, str, str]]:
    for language, means, text, wanted in commands():
        half = "held out" if is_held_out(text) else "tuned on"
        yield f"ours, {language}, {half}", "commands", outcome(means, text, wanted)
    for language, text in near_misses():
        half = "held out" if is_held_out(text) else "tuned on"
        missed = "kept apart" if understood(text) is None else "misread"
        yield f"ours, {language}, {half}", "near misses", missed


_OTHERWISE = {
    "watch": ("heighten",),
    "trait": ("more", "less"),
    "longer": ("more",),
    "shorter": ("less",),
}
"""What strangers call an intent that goes by other names here."""


def others(whose: str) -> Iterator[tuple[str, str, str]]:
    """Yield the results on others' words; none of the strangers' is ever shown."""
    for file in sorted(FOLDER.glob(f"{whose}_*.yaml")):
        whole = _read(file.name)
        lines = whole if isinstance(whole, list) else next(iter(whole.values()))
        for line in lines:
            intent, text = str(line.get("intent") or "none"), str(line["text"])
            if intent == "none":
                missed = "kept apart" if understood(text) is None else "misread"
                yield whose, "near misses", missed
                continue
            named = _OTHERWISE.get(intent, (intent,))
            results = [outcome(each, text) for each in named]
            best = next((e for e in results if e != "misread"), "misread")
            yield whose, "commands", best


def _rows(found: Iterator[tuple[str, str, str]]) -> Iterator[str]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for whose, sort, result in found:
        counts.setdefault((whose, sort), Counter())[result] += 1
    for (whose, sort), each in sorted(counts.items()):
        total = each.total()
        shares = ", ".join(
            f"{name} {count / total:.1%}" for name, count in sorted(each.items())
        )
        yield f"| {whose} | {sort} | {total} | {shares} |"


def main() -> None:
    """Print the table."""
    print("| whose | sort | n | result |\n|---|---|---|---|")
    for row in (*_rows(_own()), *_rows(others("readers")), *_rows(others("strangers"))):
        print(row)


if __name__ == "__main__":
    main()
