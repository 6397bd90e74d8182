"""What runs an instance: servers, supervision, worker and projector processes."""
