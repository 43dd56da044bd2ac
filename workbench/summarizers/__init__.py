"""What answers a summary request, and the driver that runs a strategy with it.

In: a strategy's generator and the name of a summarizer. Out: a finished run, and its record in the journal. It knows
the protocol of strategies, not one of them, and no screen; the client of a server is imported when it is asked.
"""
