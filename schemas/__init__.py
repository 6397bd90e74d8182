"""What is said: every message of the log, the states made of them, and exact numbers.

A sensor's event arrives as a `record.Record`, is read into a `message.Message`, and every
answer to it is a message again. Nothing here imports another package of ours or does I/O.
"""
