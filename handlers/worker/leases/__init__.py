"""Leases: which of several worker processes owns which partition, and for how long."""
