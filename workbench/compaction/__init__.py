"""Compaction of a context, and every strategy for it.

A `Context` (what the model would see, and the user's choices) and a `Policy` give an `Outcome`: the new messages, and
the fate of every old one. A strategy yields requests for summaries and receives answers, so this room knows no
summarizer, no session file, no screen and no command; and no other room knows a strategy by name.

Read `strategy.py` first (the contract), then a strategy. `strategies/` has one module for each, imported when it is
named; `presets/` has numbers and prompts for them; `exchange/`, `layered/`, `ledger/`, `progressive/` and `window/`
have the parts of one strategy; `assembled/` assembles a whole prompt. Shared modules:

    context, shape, layout, gauge, past     what the model would see, its sums, how full it is, its history
    policy, vocabulary, summarizing         declaration of settings, and those that several policies have
    settings, labels, environment           what is known of a setting, for form, flags and variables
    triggers                                when to compact
    keeping, spans, dropping, replaced      what stays, with its tool pairs and in which order
    summary_request, request, conversation  requests and answers, and how a request is built
    render, prompts, templates, lint        text of messages, prompts and templates
    outcome, fates, compose, verdict        new messages, fates, two compactions as one, the verdict on the size
    layers, prompt_parts, strategy_view     how a screen divides a context
    edits, checks                           manual edits, and checks of the result
    preset, agent_preset, properties        a strategy with numbers, as a file; that of a session's agent; comparison
"""
