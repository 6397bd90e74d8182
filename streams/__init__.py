"""The log and its adapters: NATS JetStream, memory, session files, the broker's disk.

They know records, subjects and group marks, not what a message means to the mind.
"""
