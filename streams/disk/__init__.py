"""The broker's files on disk, read without a server.

nats-server 2.15 keeps a stream in blocks of records (`server/filestore.go` of its source).
A server that finds a damaged block truncates it, or drops the whole stream, so a suspected
damage is looked at here first (ADR 0018).
"""
