"""The embedded nats-server: its process, its data folder, its sensors' accounts.

It starts and stops with the instance, which supervises it.
"""
