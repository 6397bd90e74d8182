"""Learn what runs of words speak for, from what people say to a companion.

Run as `python -m bench.evidence` after the corpora in `packs/phrases/tests` changed: it
writes the table that comes with the phrases. With `--without f` nothing is learnt of what
that reader wrote, and how much is understood of it then is printed: that is how well it does
with people whom nobody tuned on. What strangers wrote is never read.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression

from bench.hearing import FOLDER, commands, is_held_out, near_misses
from echoic.packs.bundled import PACKS
from echoic.packs.yaml_positions import read
from schemas.values.phrase_evidence import Evidence

TABLE = PACKS / "phrases" / "evidence" / "en.json"
NOTHING = "none"
_RUNS_MOST = 8_000
_LEAST = 0.2
"""Smaller weights, in natural logarithms of odds, are left out."""
_STEPS = 8
_NAMED = {"more", "less", "context"}
_VERBOSITY = "verbosity"
_OTHERWISE = {"watch": "heighten", "longer": "more", "shorter": "less"}
_NAMES = {
    "warmth": "helpfulness",
    "optimism": "enthusiasm",
    "proactivity": "proactive",
    "working": "work",
    "studying": "work",
    "relaxing": "home",
    "sleeping": "home",
}
"""What readers call meanings, traits and contexts that go by other names here."""


def said(skipped: str = "") -> Iterator[tuple[str, str]]:
    """Yield words and the label of what is meant by them."""
    for file in sorted(FOLDER.glob("readers_?.yaml")):
        if file.stem != f"readers_{skipped}":
            yield from by(file)
    apart: Any = read(FOLDER / "apart.yaml").value
    yield from ((text, NOTHING) for text in apart["en"])
    for language, means, text, wanted in commands():
        is_whole = means not in _NAMED or wanted
        if language == "en" and is_whole and not is_held_out(text):
            yield text, label(means, wanted)
    for language, text in near_misses():
        if language == "en" and not is_held_out(text):
            yield text, NOTHING


def by(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the same of one reader."""
    whole: Any = read(file).value
    for line in whole:
        told = line.get("slots") or {}
        means = _OTHERWISE.get(line["intent"], line["intent"])
        if means == "trait":
            means = "more" if told["direction"] == "up" else "less"
        named = told.get("trait") or told.get("context") or _VERBOSITY
        yield line["text"], label(means, _NAMES.get(named, named))


def label(means: str, wanted: str) -> str:
    """Return what words mean, with the trait or the context that they name."""
    if means not in _NAMED:
        return means
    if wanted.startswith("-"):
        means = {"more": "less", "less": "more"}.get(means, means)
    return f"{means} {wanted.removeprefix('-')}"


def learnt(lines: list[tuple[str, str]]) -> Evidence:
    """Return the weights of a logistic regression, of the runs that tell most alone."""
    texts, labels = zip(*lines, strict=True)
    counting = CountVectorizer(analyzer=Evidence.runs, min_df=3, binary=True)
    counts = counting.fit_transform(texts).astype(float)
    best = np.sort(np.argsort(-chi2(counts, labels)[0], kind="stable")[:_RUNS_MOST])
    model = LogisticRegression(C=1.0, max_iter=200).fit(counts[:, best], labels)
    weights = np.where(abs(model.coef_) < _LEAST, 0.0, model.coef_)
    names = counting.get_feature_names_out()[best]
    table = {"": _written(model.intercept_)}
    table |= {str(name): _written(weights[:, at]) for at, name in enumerate(names)}
    return Evidence(
        labels=dict(zip(ascii_letters, map(str, model.classes_), strict=False)),
        weights={run: each for run, each in table.items() if each},
    )


def _written(weights: Any) -> str:
    steps = (round(float(each) * _STEPS) for each in weights)
    return "".join(
        f"{letter}{each}"
        for letter, each in zip(ascii_letters, steps, strict=False)
        if each
    )


def _outcomes(evidence: Evidence, lines: list[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text, wanted in lines:
        meant = evidence.meant(text)
        sort = "near miss" if wanted == NOTHING else "request"
        right = "kept apart" if meant is None else "misread"
        if wanted != NOTHING and meant is not None:
            right = "understood" if meant == wanted else "misread"
        found[f"{sort} {right}"] += 1
    return found


def main() -> None:
    """Write the table, or try it on who was left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", default="", help="whom not to learn from")
    skipped = parser.parse_args().without
    evidence = learnt(list(said(skipped)))
    if skipped:
        lines = list(by(FOLDER / f"readers_{skipped}.yaml"))
        print(json.dumps(_outcomes(evidence, lines), indent=1))
        return
    TABLE.parent.mkdir(exist_ok=True)
    written = evidence.model_dump(mode="json")
    TABLE.write_text(json.dumps(written, indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
