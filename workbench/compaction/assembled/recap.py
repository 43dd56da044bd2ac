"""The todo recap: the agent's task list in one line; of TodoWrite only that is kept."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.text import clip_at_word
from workbench.compaction.context import Context
from workbench.compaction.past import Past
from workbench.compaction.shape import Shape, newest_per_shape
from workbench.compaction.shape_calls import calls_of
from workbench.facts.tasks import Task, tasks_of

TASK_CHARS = 80


def recap(tasks: Sequence[Task]) -> str:
    """How many tasks are done, which one is being worked on, which is next; "" without tasks."""
    if not tasks:
        return ""
    parts = [f"{sum(task.status == 'completed' for task in tasks)} of {len(tasks)} done"]
    for status, words in (("in_progress", "in progress"), ("pending", "next")):
        first = next((task for task in tasks if task.status == status), None)
        if first is not None:
            parts.append(f"{words}: {clip_at_word(first.text, TASK_CHARS)}")
    return "; ".join(parts)


def recap_of(context: Context) -> str:
    """The recap as the session's last todo call leaves it, also one that a compaction took away: the agent's list is no
    part of its history. "" when the agent kept none."""
    return _recap_of(context.shape, context.past)


@newest_per_shape
def _recap_of(shape: Shape, past: Past) -> str:
    return recap(tasks_of((*calls_of(past.shape), *calls_of(shape))))
