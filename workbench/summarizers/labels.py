"""Texts of an extractive summary, in English and Chinese."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Topic = Literal[
    "earlier", "goal", "instructions", "requests", "decisions", "done", "files", "commands", "errors", "named", "stack",
    "last", "open",
]  # fmt: skip
TOPICS: tuple[Topic, ...] = (
    "earlier", "goal", "instructions", "requests", "decisions", "done", "files", "commands", "errors", "named", "last",
    "open",
)  # fmt: skip
"""Topics in the order of a summary. `stack` is added only if the title of a section asks for it."""


class SummaryLabels(Struct, frozen=True):
    titles: dict[Topic, str]
    nothing: str
    more: str
    answered: str
    unanswered: str
    under: str
    read: str
    counts: dict[str, str]
    ok: str
    failed: str
    unknown: str
    times: str
    fixed: str
    unfixed: str
    task: dict[str, str]
    tasks_done: str
    last_request: str
    last_words: str
    chosen: str
    committed: str
    noted: str
    on: str
    refused: str
    gap: str
    languages: str
    programs: str


EN = SummaryLabels(
    titles={
        "earlier": "Earlier summary",
        "goal": "Goal",
        "instructions": "Standing instructions from the user",
        "requests": "What the user asked next, and what I answered",
        "decisions": "Decisions",
        "done": "What I finished and noted",
        "files": "Files",
        "commands": "Commands and their results",
        "errors": "Errors and fixes",
        "named": "Names, references and numbers",
        "stack": "Stack",
        "last": "Where I stopped",
        "open": "Open",
    },
    nothing="(nothing recorded)",
    more="… and {n} more",
    answered="I answered: {text}",
    unanswered="(I gave no answer before the next request)",
    under="Relative paths below are under `{path}`.",
    read="Only read: {paths}",
    counts={
        "created": "created",
        "modified": "modified",
        "deleted": "deleted",
        "reverted": "reverted",
        "viewed": "read",
    },
    ok="ok",
    failed="failed",
    unknown="result unknown",
    times="{n} times, last: ",
    fixed="fixed",
    unfixed="I saw no fix",
    task={"in_progress": "in progress", "pending": "to do", "completed": "done", "cancelled": "cancelled"},
    tasks_done="{done} of {all} tasks of my plan are done.",
    last_request="The user's last request has no answer yet: {text}",
    last_words="My last words: {text}",
    chosen="{text} (asked: {question})",
    committed="Committed: {text}",
    noted="I noted: {text}",
    on="On “{text}”:",
    refused="(Turned back: {what}.)",
    gap="[… {n} more …]",
    languages="File types I worked on: {items}",
    programs="Programs I ran: {items}",
)

ZH = SummaryLabels(
    titles={
        "earlier": "此前的摘要",
        "goal": "目标",
        "instructions": "用户的长期要求",
        "requests": "用户随后的请求与我的回答",
        "decisions": "决定",
        "done": "我完成与记下的",
        "files": "文件",
        "commands": "命令及结果",
        "errors": "错误与修复",
        "named": "名称、引用与数字",
        "stack": "技术栈",
        "last": "我停在何处",
        "open": "未完成",
    },
    nothing="（无记录）",
    more="… 另有 {n} 条",
    answered="我的回答：{text}",
    unanswered="（在下一个请求之前我没有回答）",
    under="以下相对路径位于 `{path}`。",
    read="仅读取：{paths}",
    counts={"created": "新建", "modified": "修改", "deleted": "删除", "reverted": "还原", "viewed": "读取"},
    ok="成功",
    failed="失败",
    unknown="结果未知",
    times="{n} 次，最近一次：",
    fixed="已修复",
    unfixed="未见修复",
    task={"in_progress": "进行中", "pending": "待办", "completed": "已完成", "cancelled": "已取消"},
    tasks_done="我的计划中 {all} 项任务已完成 {done} 项。",
    last_request="用户的最后一个请求尚未回答：{text}",
    last_words="我最后说：{text}",
    chosen="{text}（对提问的回答：{question}）",
    committed="已提交：{text}",
    noted="我记下：{text}",
    on="针对“{text}”：",
    refused="（被拒绝：{what}。）",
    gap="[…… 另有 {n} 段 ……]",
    languages="处理过的文件类型：{items}",
    programs="运行过的程序：{items}",
)


def labels_for(language: str) -> SummaryLabels:
    """Return the Chinese labels for a `zh…` language, else the English ones."""
    return ZH if language.lower().startswith("zh") else EN
