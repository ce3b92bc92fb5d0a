"""Dynamic runs: executing a kernel under a happens-before race detector, to turn a possible race into a confirmed one.

`harness.run` takes a `request.Request` and gives a `request.RunResult`; docs/architecture.md shows what lies between.
"""
