"""Where it is said: the log on NATS JetStream, who may write to it, and how it is read."""
