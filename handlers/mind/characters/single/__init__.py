"""One model that is talker and executor at once."""
