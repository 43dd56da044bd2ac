"""Compaction of a context, and every strategy for it.

A strategy turns a `Context` (what the model would see, and the user's choices) and a `Policy` into an `Outcome`: the
new messages, and the fate of every old one. It yields requests for summaries and receives answers, so this package
depends on no summarizer, session file, screen or command; and no other package names a strategy.

Read `strategy.py` first (the interface), then a strategy. `strategies/` has one module for each, imported when it is
named; `presets/` has numbers and prompts for them; `exchange/`, `layered/`, `ledger/`, `progressive/` and `window/`
have the parts of one strategy; `assembled/` assembles a whole prompt. Shared modules:

    context, shape, stored_history          messages that the model would see, sums, fill level, history before them
    policy, vocabulary, prompt_policies     declaration of settings, and those that several policies have
    settings, labels, environment           facts about settings, for form, flags and variables
    triggers                                when to compact
    invariants                              what holds after every compaction: pairs, pins, unanswered messages, roles
    head, spans, dropping                   messages before the cut, those that stay, and the order of the result
    summary_request, request, excerpt       requests and answers, and how a request is built
    render, prompts, templates              text of messages, prompts and templates
    summary_template                        template and tags around the text of a summary
    outcome, fates, compose                 new messages, fates, two compactions as one
    layers, prompt_parts                    how a screen divides a context
    edits, checks                           manual edits, and checks of the result
    preset, properties                      strategies with settings, the one of a session's agent, comparison
"""
