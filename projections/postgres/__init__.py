"""The embedded PostgreSQL: its process and its data folder.

It is started, supervised and stopped with the instance, and holds nothing but read models.
"""
