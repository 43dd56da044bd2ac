"""What a compaction is, and every way of doing one.

In come a `Context` (what the model would see, and what the person wants of it) and a `Policy`; out comes an `Outcome`:
the new messages, and the fate of every old one. It asks for summaries and is given them, so it knows no summarizer, no
file of a session, no screen and no command; and no other room knows a strategy by name.

Read `strategy.py` first (the protocol), then a strategy: `strategies/` has one module for each, imported when it is
named; `presets/` has numbers and prompts for them; `exchange/`, `layered/`, `ledger/` and `progressive/` have the parts
of one alone. What they share:

    context, shape, layout, gauge      what the model would see, its sums, how full it is
    policy, vocabulary, summarizing    how settings are declared, and those that several policies have
    settings                           what is known of a setting: for the form, the flags, the sweep
    triggers                           when to compact
    keeping, spans, dropping, replaced what stays, with its tool pairs and in which order
    request, render, prompts, lint     what a summarizer is asked and shown, its answer made fit for use
    outcome, fates, compose, layers    what came of it: new messages, fates, generations, where the tokens are
    edits, checks                      edits by hand, and whether the result is whole
    preset                             a strategy with numbers, as a file
"""
