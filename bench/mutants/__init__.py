"""Small changes of the pure parts, and which of them no test notices."""
