"""The settings: each declared once, from where it came, and what it may be."""
