"""The embedded nats-server: its process, its data folder, and who may connect."""
