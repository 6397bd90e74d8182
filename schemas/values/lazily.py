"""Modules that are loaded when something of theirs is first used.

A command of the program ends in less time than some of them take to load.
"""

from importlib import import_module
from typing import Any


class Lazily:
    """Stands for a module until it is used."""

    def __init__(self, module: str, *, keeps: bool = False) -> None:
        """Stand for `module`, by its full name, without importing it.

        `keeps`: what was used once is kept, and costs nothing more; for what is used with
        each event.
        """
        self._module = module
        self._keeps = keeps

    def __getattr__(self, name: str) -> Any:
        """Import the module, which is safe in threads, and return what it has."""
        found = getattr(import_module(self._module), name)
        if self._keeps:
            setattr(self, name, found)
        return found
