"""Where it is said: the log on NATS JetStream, who may write it, how it is read."""
