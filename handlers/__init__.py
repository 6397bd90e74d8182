"""What reacts: pure stages, the mind that orders them, and the drivers around it."""
