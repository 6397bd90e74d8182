"""The embedded PostgreSQL: its process and its data folder."""
