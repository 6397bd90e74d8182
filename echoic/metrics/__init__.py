"""Metrics for Prometheus: counted from what the worker has answered, served over HTTP.

They observe, and are no part of a decision: nothing here is read back by the mind.
"""
