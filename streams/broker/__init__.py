"""The embedded nats-server: its process, its data folder, its sensors' accounts.

It is started, supervised and stopped with the instance.
"""
