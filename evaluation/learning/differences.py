"""Compare what an agent knew at the ends of two sessions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.learning.heuristics_at import Known

_Sort = Literal["new", "gone", "edited", "moved", "same"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One heuristic at the one end and at the other."""

    sort: _Sort
    """`edited`: its content is another; `moved`: only what is believed of it is."""
    before: Known | None
    after: Known | None

    @property
    def known(self) -> Known:
        """The heuristic as it was last."""
        found = self.after or self.before
        # `_each` takes the ids of both ends, so one of the two is there.
        assert found is not None
        return found

    @property
    def by(self) -> float:
        """How far its confidence moved."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after.confidence - self.before.confidence


def differences(
    one: Mapping[str, Known], other: Mapping[str, Known]
) -> tuple[Difference, ...]:
    """Return every heuristic at either end.

    New, gone and edited ones come first, then the others by how far they moved.
    """
    order = ("new", "gone", "edited", "moved", "same")
    return tuple(
        sorted(
            _each(one, other),
            key=lambda each: (
                order.index(each.sort),
                -abs(each.by),
                each.known.name,
                each.known.id,
            ),
        )
    )


def _each(one: Mapping[str, Known], other: Mapping[str, Known]) -> Iterator[Difference]:
    for id_ in sorted(one.keys() | other.keys()):
        before, after = one.get(id_), other.get(id_)
        yield Difference(_sort(before, after), before, after)


def _sort(before: Known | None, after: Known | None) -> _Sort:
    if before is None or after is None:
        return "new" if before is None else "gone"
    if before.content_hash != after.content_hash:
        return "edited"
    return "same" if before == after else "moved"
