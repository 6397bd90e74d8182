"""Tenure: whether a worker's partitions are still its own."""

from typing import Protocol


class Tenure(Protocol):
    """What a worker asks before it writes, and after a write of it was refused."""

    def lapsed(self) -> bool:
        """Tell whether nothing may be decided now; it costs no more than reading a clock."""
        ...

    async def look(self) -> bool:
        """Ask the broker whether the partitions are still this worker's; wait for it."""
        ...


class Unlimited:
    """The tenure of a worker whose partitions nobody else takes."""

    def lapsed(self) -> bool:
        """Tell that it goes on."""
        return False

    async def look(self) -> bool:
        """Tell that they are."""
        return True
