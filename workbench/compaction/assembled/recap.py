"""The todo recap: the agent's task list in one line; the only part of TodoWrite calls that is kept."""

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
    """Number of finished tasks, the current one and the next one; "" without tasks."""
    if not tasks:
        return ""
    parts = [f"{sum(task.status == 'completed' for task in tasks)} of {len(tasks)} done"]
    for status, words in (("in_progress", "in progress"), ("pending", "next")):
        first = next((task for task in tasks if task.status == status), None)
        if first is not None:
            parts.append(f"{words}: {clip_at_word(first.text, TASK_CHARS)}")
    return "; ".join(parts)


def recap_of(context: Context) -> str:
    """Recap after the session's last todo call, even if a compaction removed that call, because the agent's list is not
    part of its history. "" if the agent had no list."""
    return _recap_of(context.shape, context.past)


@newest_per_shape
def _recap_of(shape: Shape, past: Past) -> str:
    return recap(tasks_of((*calls_of(past.shape), *calls_of(shape))))
