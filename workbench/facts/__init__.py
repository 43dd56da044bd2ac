"""What a stretch of messages says that must not get lost, each fact with the message it stands in.

In: messages. Out: facts, as frozen values. It knows no file format, no token, no strategy and no summary.

What to ask for:

- everything, in order: `found.find(messages)`; each fact once however often it is stated:
  `known.known(find(messages))`, where `Known.last` tells how it ended (a command's exit, what was done to a file last)
  and `Known.mentions` every place;
- standing instructions and `<Pin>` passages with their reasons, repeated ones once, superseded ones marked:
  `standing.standing(messages)`;
- what a person stated, with how specific and rare it is: `stated.stated(messages)`;
- what a person typed and what they pasted: `pasted.passages(text)`;
- what was requested and whether it was answered: facts of kind `request`, `ok`; the open one is the last;
- decisions with who made them (`by`), errors with how they ended (`state`) and what resolved them (`by`), commands with
  how they ended (`ok`, `detail` is the last line of the output): facts of kinds `decision`, `error`, `command`;
- files and what was done to them: kind `path`, `detail` viewed, created, modified, deleted, reverted or
  mentioned, in a shell, too (`shell`); line counts: `diffstat`;
- identifiers, numbers, paths, addresses that are used again: `again.Uses(messages, facts, known(facts)).of(one)` gives
  the messages that state or use one; more than one means again;
- the task list: `plan.plan_of(calls_in(messages))`.

Nothing is imported here: whoever asks for calls alone need not wait for the words and patterns of all kinds.

How well each kind is found is measured on messages labelled by hand (`tests/facts/labelling.py`).
"""
