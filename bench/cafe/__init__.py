"""Days of the café, played on each tier and counted."""
