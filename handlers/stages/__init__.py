"""The pure stages of the mind; they do not know each other and meet only in the mind."""
