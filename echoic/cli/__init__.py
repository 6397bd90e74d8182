"""The command line: one module for each group of commands, imported when it is called."""

from echoic.cli.program import main

__all__ = ["main"]
