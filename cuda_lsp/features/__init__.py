"""One module per kind of request: each takes a snapshot and parameters, and gives the answer."""
