"""Facts stated in messages that a summary should not lose, each with its message.

Input: messages. Output: facts, as frozen values. The room knows no file format, token, strategy or summary.

- all facts in order: `all_facts.find_facts(messages)`; each once: `distinct.distinct_facts(facts)`, where
  `DistinctFact.last` holds the final state (a command's exit, the last action on a file) and `mentions` every place;
- standing rules and `<Pin>` passages with reasons and superseding rules: `standing.standing_rules(messages)`;
- statements of the user: `statements.sentence_states(messages)`;
- sentences that the user typed: `typed.typed_parts(text)`;
- typed and pasted passages of the user's text, with a source: `pastes.passages(text)`; each line is judged in
  `pasted_lines`;
- requests and whether they were answered: facts of kind `request`, `ok`;
- decisions with who made them (`by`), errors with their state (`state`) and fix (`by`), commands with their result
  (`ok`; `detail` is the last line of the output): facts of kinds `decision`, `error`, `command`;
- files and the actions on them, also by shell commands (`shell`): facts of kind `path`, `detail`; line counts:
  `diffstat`;
- uses of facts: `distinct.FactUses(messages, facts, distinct_facts(facts)).of(fact)` returns the messages that state
  or use it;
- the task list: `tasks.tasks_of(calls_in(messages))`.

Nothing is imported here, so that callers who only need calls do not load the word tables and patterns.

How well each kind is found is measured on messages labelled by hand (`tests/facts/labelling.py`).
"""
