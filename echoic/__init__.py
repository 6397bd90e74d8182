"""The program: settings, the composition root and the command line."""
