"""What becomes of each mutant: killed, survived, over time, or undecided.

A mutant is killed only by a test that passes without it, in the same kind of process, twice
with all tests and once more with those that ran before it here. What fails without a mutant
takes no part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from bench.mutants.mutating import Mutant, instrumented
from bench.mutants.running import Begin, Called, Functions, Ran, forked

BASE_S = 600.0
"""CPU seconds for all tests without a mutant."""
LEAST_S = 5.0
TIMES = 10
"""A mutant's tests may take so many times what they take without it, or `LEAST_S`."""

Fate = Literal[
    "killed", "survived", "uncovered", "over time", "undecided", "impossible"
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    fate: Fate
    by: str = ""
    """The test that killed it, or why nothing was decided."""


class Judge:
    """Tests, and what they do without a mutant."""

    def __init__(self, session: pytest.Session, paths: Sequence[Path]) -> None:
        """Run all tests twice without a mutant, once of these noting what they call.

        Raises:
            RuntimeError: a run did not end, or no test passes.
        """
        self._session = session
        self._functions = {path: Functions(str(path)) for path in paths}
        items = {each.nodeid: each for each in session.items}
        plain = self._whole(lambda _: None)
        noted = self._whole(self._note)
        sound = {*plain.passed} & {*noted.passed}
        self.failing = sorted(set(items) - sound)
        self._spent_s, self._called = plain.spent_s, noted.called
        # The quickest first: most mutants are killed by many tests.
        names = sorted(sound, key=lambda name: self._spent_s[name])
        self._items = [items[each] for each in names]
        if not self._items:
            raise RuntimeError("no test passes without a mutant")

    def judge(self, mutant: Mutant) -> Verdict:
        """Run the tests that call a mutant's function, and say what became of it."""
        place = str(mutant.path), mutant.function
        items = [each for each in self._items if place in self._called[each.nodeid]]
        if not items:
            return Verdict(mutant, "uncovered")
        functions = self._functions[mutant.path]
        if not functions.can_have(mutant.function, mutant.code):
            return Verdict(mutant, "impossible", "it would use other variables")
        ran = self._ran(items, lambda _: functions.put(mutant.function, mutant.code))
        if ran.is_over_time:
            return Verdict(mutant, "over time")
        if ran.fault is not None:
            return Verdict(mutant, "undecided", ran.fault)
        if not ran.failed:
            return Verdict(mutant, "survived")
        # The same tests in the same order, without it.
        (killer,) = ran.failed
        until = [each.nodeid for each in items].index(killer) + 1
        again = self._ran(items[:until], lambda _: None)
        if killer in again.passed:
            return Verdict(mutant, "killed", killer)
        return Verdict(mutant, "undecided", f"{killer} fails without it")

    def _ran(self, items: Sequence[pytest.Item], begin: Begin) -> Ran:
        usual_s = sum(self._spent_s[each.nodeid] for each in items)
        return forked(
            self._session, items, begin=begin,
            cpu_s=max(LEAST_S, TIMES * usual_s), is_ended_by_failure=True,
        )  # fmt: skip

    def _whole(self, begin: Begin) -> Ran:
        ran = forked(self._session, self._session.items, cpu_s=BASE_S, begin=begin)
        if ran.is_over_time or ran.fault is not None:
            raise RuntimeError(
                ran.fault or f"the tests take over {BASE_S:g} CPU seconds"
            )
        return ran

    def _note(self, called: Called) -> None:
        for path, functions in self._functions.items():
            functions.note(instrumented(path), called)
