"""Summarizers, the driver that runs a strategy with one, and the records of runs.

Input: a strategy's generator and the name of a summarizer. Output: a finished run, and its record in the run history.
`summarizer.py` is the contract of every summarizer. The room knows the protocol of strategies but no single strategy,
and no screen; the client of a server is imported when it is first used.
"""
