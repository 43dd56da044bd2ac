"""Keys of the run screen: each with an id (by which it is remapped) and a tooltip (for help and palette)."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.tui.keys import HELP_KEY, shared

PANES = {"left": "1 Steps", "centre": "2 Text", "right": "3 Lost"}
"""Titles of the tabs, by pane, where the screen shows one pane at a time."""

BINDINGS: list[BindingType] = [
    shared("open", "send", "Send", "Begin: answer the requests. Only then is anything sent."),
    shared("save", "go", "Commit", "Commit the drafts: the bench shows the result."),
    shared("model", "summarizer", "Summarizer", "Choose who writes the summary; remembered with the session."),
    shared("history", "history", "Run history", "List former runs: look at one, compare two, use one. Again: close."),
    shared("close", "leave", "Cancel, back", "Cancel the run; otherwise go back to the bench, nothing changed."),
    Binding(
        "f8",
        "accept",
        "Accept",
        id="run.accept",
        tooltip="Accept the section at the cursor (a failed call's text: as it is), to the next.",
    ),
    Binding(
        "ctrl+g",
        "again",
        "Section again",
        id="run.again",
        tooltip="Have this section rewritten, with an instruction; one more call.",
    ),
    Binding(
        "f9",
        "as_written",
        "As written",
        show=False,
        id="run.as-written",
        tooltip="Restore this section as it was written.",
    ),
    Binding(
        "ctrl+r",
        "retry",
        "Run again",
        id="run.retry",
        tooltip="Ask again what failed; accepted and edited drafts are kept.",
    ),
    shared("pin", "pin_fact", "Pin", "Pin the message of the marked fact: it is kept verbatim."),
    Binding(
        "i",
        "insert_fact",
        "Insert",
        id="run.insert-fact",
        tooltip="Insert the marked fact into the section where it belongs.",
    ),
    shared("editor", "outside", "$EDITOR", "Edit the draft in $VISUAL or $EDITOR.", show=False),
    # Priority: in a text area F6 selects a line.
    shared(
        "next-pane", "next_pane", "Next pane", "To the next pane: steps, text, lost facts.", show=False, priority=True
    ),
    shared("tab.1", "pane('left')", "Steps", "To the steps and sections.", show=False),
    shared("tab.2", "pane('centre')", "Text", "To the request, the text as it comes, or the draft.", show=False),
    shared("tab.3", "pane('right')", "Lost", "To the lost and the unsupported facts.", show=False),
    HELP_KEY,
]

ON_PANES = frozenset(
    ("send", "summarizer", "go", "retry", "accept", "again", "as_written", "outside", "insert_fact", "pin_fact", "pane",
     "next_pane")
)  # fmt: skip
"""Actions on the panes, which the run history hides."""

HELP = """\
A compaction that you run and edit. First you see exactly what will be sent, with its size and its price: nothing \
leaves this machine before you press enter. While it runs, the list of steps shows each rung of the strategy and each \
call with its state and time, and the answer appears as it is written; esc cancels at once and changes nothing.

Then the summary is a draft for you to edit: accept it section by section, or have a section rewritten with an \
instruction. Underlined claims are not found in the replaced messages (the head). The list next to the draft has the \
facts of the head that the draft lost: p pins the message of one, i inserts the fact into the draft. Checks, sizes, \
both lists and the states of watched rules (W on the bench) follow while you type. Ctrl+S commits the draft: the bench \
shows the result, and undo takes it back.

A failed call names its kind: timeout, overflow, empty, truncated, refused, inflated, error. The last of the steps is \
the strategy's fallback. Runs of models are saved, failed and cancelled ones too: H lists them (`cwb list runs`)."""
