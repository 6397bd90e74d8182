"""The tests. A package, since an installed one of this name would stand before it."""
