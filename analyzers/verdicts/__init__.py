"""From answers to verdicts: decide a kernel under its launch contexts and report findings a person can read."""
