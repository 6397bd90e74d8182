"""The parts of the mind: pure, each a question about one input; they meet in the mind."""
