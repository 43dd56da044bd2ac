"""What a compaction is, and every way of doing one.

Read `strategy.py` first (the protocol), then a strategy: `strategies/` has one file for each, `presets/` numbers and
prompts for them, `layered/` and `progressive/` the parts that only these two need. What they share:

    context, layout, gauge     what the model would see, its sums, how full it is
    triggers, policy           when to compact, and the settings that say so
    keeping, spans, dropping   what stays, with its tool pairs and in which order
    request, render, prompts   what a summarizer is asked and shown, its answer made fit for use
    abridge, exchange_cut      the abridged history and the cut of `exchange-summary`
    outcome, fates, compose    what came of it: new messages, the fate of every old one, generations
    edits, checks              edits by hand, and whether the result is whole
"""
