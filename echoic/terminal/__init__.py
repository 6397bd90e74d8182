"""What is seen in a terminal: typed documents in, text out.

Nothing here reads a log or asks a server.
"""
