"""The door for language models: an instance's log as tools of the Model Context Protocol."""
