"""The command line: one module a group of commands, loaded when it is called for."""

from echoic.cli.program import main

__all__ = ["main"]
