"""The log on NATS JetStream: who may write it, how it is read, and in which order.

It knows records and subjects, and nothing of what a message means to the mind.
"""
