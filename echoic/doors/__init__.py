"""Ways in for other programs: the services `svc.<agent>.*` over NATS."""
