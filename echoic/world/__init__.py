"""A mind in memory for a world of one's own: no broker, no clock, no process."""
