"""Packs as folders of files: found, read with positions, checked."""
