"""Services for other programs: `svc.<agent>.*` over NATS, by request and reply.

A handler checks a request, passes it to `echoic.client`, and replies in JSON.
"""
