"""The callers' side of an instance: submit, watch, find, explain, record.

Command line, services and pages are thin layers over it.
"""
