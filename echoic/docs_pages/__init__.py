"""The generated pages: events and AsyncAPI."""
