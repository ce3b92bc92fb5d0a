"""What the host code says about each launch: dimensions, arguments, and the facts that hold where it happens."""
