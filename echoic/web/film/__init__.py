"""The film of a day: characters on a map with a time line, as one page."""
