"""The generated pages: events and AsyncAPI.

They are written from the messages' own schemas, so they cannot say anything else.
"""
