"""The log in a file: one record a line, read whole or page by page."""
