"""The broker's files as they lie on disk: read without a server, and never by one of ours.

nats-server 2.15 keeps a stream in blocks of records (`server/filestore.go` of its source).
A server that meets a damaged block cuts it, or drops the whole stream: so whoever suspects
damage looks here first.
"""
