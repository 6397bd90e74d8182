"""Ways in for other programs: the services `svc.<agent>.*` over NATS.

A door checks a request, hands it to `echoic.client`, and answers in JSON.
"""
