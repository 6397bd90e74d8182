"""The callers' side of an instance: submit, watch, find, explain, record.

Command line, services and pages are thin layers over it.
"""

# First of all, since it imports the NATS client without what a command has no use for.
import streams.jetstream  # noqa: F401
