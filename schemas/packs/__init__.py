"""What a pack declares: its manifest, its conditions and the templates of its prompts.

A pack is data: it is read and compiled here, never imported.
"""
