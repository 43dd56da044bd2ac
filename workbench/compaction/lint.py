"""Find problems in a summary prompt."""

from __future__ import annotations

import re

_FORMAT = re.compile(
    r"<summary>|format|markdown|bullet|\bsections?\b|headings?|\btags?\b|\bjson\b|格式|标签|标题|开头", re.IGNORECASE
)
_TOPICS = (
    r"require|request|constraint|instruction|goal|intent|需求|要求|目标|意图|指示",
    r"action|file|command|change|edit|操作|文件|命令|修改",
    r"decision|rationale|why|决策|决定|理由",
    r"pending|task|todo|open question|next step|remain|待|任务|下一步",
    r"error|fix|problem|错误|修复|问题",
)
_FIRST_PERSON = re.compile(
    r"first person|['\"“”‘’]I['\"“”‘’]|\bI\b[^.\n]{0,20}\b(is|means|represents|refers)|agent ?\(you\)|you,? the agent"
    r"|第一人称|[“\"']我[”\"']",
    re.IGNORECASE,
)


def lint_summary_prompt(prompt: str) -> tuple[str, ...]:
    """One sentence per problem; none if the prompt states what to record, the format, and who "I" is."""
    found = list(lint_prompt(prompt))
    if not prompt.strip():
        return tuple(found)
    if sum(bool(re.search(topic, prompt, re.IGNORECASE)) for topic in _TOPICS) < 2:
        found.append("The prompt is too vague: list what to record (requirements, actions, decisions, pending tasks).")
    if not _FIRST_PERSON.search(prompt):
        found.append("The prompt does not define 'I': state that 'I' in the summary is the agent.")
    return tuple(found)


def lint_prompt(prompt: str) -> tuple[str, ...]:
    """Problems that any prompt may have: it is empty, or sets no output format."""
    if not prompt.strip():
        return ("The prompt is empty, which disables the summary: state what to record.",)
    if not _FORMAT.search(prompt):
        return ("The prompt sets no output format: ask for <summary></summary> tags or named sections.",)
    return ()
