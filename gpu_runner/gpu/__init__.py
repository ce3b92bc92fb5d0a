"""The executor on a GPU: rewritten PTX that logs by warps into queues, their decoder, and the driver calls."""
