"""The log on NATS JetStream: fenced appends, paged reads, the live tail, checkpoints.

Only these modules send requests to a broker.
"""
