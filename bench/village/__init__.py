"""Days of the village, played and counted."""
