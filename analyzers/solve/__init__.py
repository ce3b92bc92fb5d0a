"""The ladder of solvers that answers a two-thread query: proved, a witness, or pass to the next rung."""
