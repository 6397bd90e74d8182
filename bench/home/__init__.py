"""The simulated home: a day is played or read, and held against what people need."""
