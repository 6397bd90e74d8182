"""Session files (`.echoic`): a stretch of the log with all it takes to run it again.

Small ones are read into memory, large ones page by page.
"""
