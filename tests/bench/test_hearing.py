"""Hearing: a corpus of what people say, and of what only sounds like it."""

from collections import Counter

import pytest

from bench.hearing import (
    commands,
    is_held_out,
    near_misses,
    others,
    outcome,
    understood,
)

LEAST = {"en": 0.95, "de": 0.9}
"""Which share is understood at least; the aim on the words of others is 0.9."""
STRANGERS = 0.6
"""The same of what strangers ask."""
MOST = 0.01
"""Which share of the near misses may be misread."""


@pytest.mark.parametrize("is_held", [False, True])
def test_commands_are_understood(is_held: bool) -> None:
    """With their topics and spans; each language for itself, also what nobody tuned on."""
    found: dict[str, Counter[str]] = {}
    for language, means, text, wanted in commands():
        if is_held_out(text) == is_held:
            counts = found.setdefault(language, Counter())
            counts[outcome(means, text, wanted)] += 1
    for language, counts in found.items():
        assert counts["understood"] / counts.total() >= LEAST[language], counts
        assert counts["asked back"] / counts.total() <= 0.05, counts


def test_near_misses_are_left_alone() -> None:
    """What is negated, reported, quoted, described or asked about is no command."""
    for is_held in (False, True):
        texts = [each for _, each in near_misses() if is_held_out(each) == is_held]
        misread = [each for each in texts if understood(each) is not None]
        assert len(misread) / len(texts) <= MOST, misread


def test_strangers_are_understood_and_never_misread() -> None:
    """Nothing was learnt from their words, and nobody looks at them."""
    found: dict[str, Counter[str]] = {}
    for _, sort, result in others("strangers"):
        found.setdefault(sort, Counter())[result] += 1

    asked, apart = found["commands"], found["near misses"]
    assert asked["understood"] / asked.total() >= STRANGERS
    assert asked["misread"] / asked.total() <= 2 * MOST
    assert apart["misread"] / apart.total() <= MOST
