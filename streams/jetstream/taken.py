"""Which messages of an intake stream the log has, in what little has to be remembered of it.

Messages come into the log in their order, so that a position and the gaps before it say all.
"""

_Stretch = tuple[int, int]
"""A first and a last sequence, inclusive."""


class Taken:
    """What the log has of one intake stream: all up to `last`, but for some gaps."""

    def __init__(self, last: int = 0) -> None:
        """Begin with a log that has everything up to a sequence."""
        self.last = last
        self._gaps: list[_Stretch] = []

    @property
    def gaps(self) -> tuple[_Stretch, ...]:
        """What the log does not have before `last`, ascending."""
        return tuple(self._gaps)

    def lacks(self, end: int) -> tuple[_Stretch, ...]:
        """Return what the log does not have up to a sequence, ascending."""
        rest = [(self.last + 1, end)] if end > self.last else []
        return (*self._gaps, *rest)

    def take(self, sequence: int) -> None:
        """Note that the log has a message, or need not have it."""
        if sequence > self.last:
            if sequence > self.last + 1:
                self._gaps.append((self.last + 1, sequence - 1))
            self.last = sequence
        elif self._gaps:
            self.drop((sequence, sequence))

    def drop(self, stretch: _Stretch) -> None:
        """Note that the log need not have a stretch, which the intake stream has not."""
        first, last = stretch
        left: list[_Stretch] = []
        for gap in self._gaps:
            left += [(gap[0], min(gap[1], first - 1)), (max(gap[0], last + 1), gap[1])]
        self._gaps = sorted({each for each in left if each[0] <= each[1]})
        if first <= self.last + 1:
            self.last = max(self.last, last)

    def forget(self, before: int) -> None:
        """Note that the intake stream has nothing before a sequence any more."""
        self.last = max(self.last, before - 1)
        self._gaps = [
            (max(first, before), last) for first, last in self._gaps if last >= before
        ]
