"""Compaction of a context, and every strategy for it.

A strategy turns a `Context` (what the model would see, and the user's choices) and a `Policy` into an `Outcome`: the
new messages, and the fate of every old one. It yields requests for summaries and receives answers, so this package
depends on no summarizer, session file, screen or command; and no other package names a strategy.

Read `strategy.py` first (the interface), then a strategy. `strategies/` has one module for each, imported when it is
named; `presets/` has numbers and prompts for them; `exchange/`, `layered/`, `ledger/`, `progressive/` and `window/`
have the parts of one strategy; `assembled/` assembles a whole prompt. Shared modules:

    context, shape, layout, gauge, past     messages that the model would see, sums, fill level, history
    policy, vocabulary, summarizing         declaration of settings, and those that several policies have
    settings, labels, environment           facts about settings, for form, flags and variables
    triggers                                when to compact
    keeping, spans, dropping, replaced      messages that stay, with their tool pairs, and their order
    summary_request, request, conversation  requests and answers, and how a request is built
    render, prompts, templates, lint        text of messages, prompts and templates
    outcome, fates, compose, verdict        new messages, fates, two compactions as one, the verdict on the size
    layers, prompt_parts, strategy_view     how a screen divides a context
    edits, checks                           manual edits, and checks of the result
    preset, agent_preset, properties        strategies with settings, the one of a session's agent, comparison
"""
