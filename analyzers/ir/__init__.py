"""The kernel IR, one thread's view of one kernel instance, and the passes over it."""
