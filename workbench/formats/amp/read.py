"""Read Amp threads."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from workbench.base.stamps import seconds_of
from workbench.formats.agent_texts import kind_of, with_user_text
from workbench.formats.amp import ID
from workbench.formats.kit.blocks import as_text, from_anthropic, result_parts
from workbench.formats.kit.conversation import Document
from workbench.formats.kit.values import count_of, dict_of, list_of, text_of, word_of
from workbench.session import (
    Block,
    Compaction,
    Epoch,
    Media,
    Message,
    Role,
    Session,
    SessionFacts,
    Text,
    ToolResult,
    Usage,
)

_FAILED = ("error", "cancelled", "rejected-by-user")


class Reader(Document):
    """Reader of one thread."""

    format = ID
    needs = "the thread has no message yet; open one that has"

    def session(self) -> Session:
        thread = self.body
        items = list_of(thread.get("messages"))
        if not items:
            raise self.lacking()
        messages = with_user_text(self._message(index, dict_of(item)) for index, item in enumerate(items))
        branch = [index for index, item in enumerate(items) if not word_of(dict_of(item).get("parentToolUseId"))]
        if any(dict_of(dict_of(item).get("fileMentions")).get("files") for item in items):
            self.warn("files were mentioned: Amp also sent their contents, which are not in the file")
        return self._session(
            messages,
            text_of(thread.get("title")) or None,
            branch=branch,
            epochs=_epochs(messages, branch, items),
            id=text_of(thread.get("id")),
            cwd=_folder(thread),
            facts=_facts(dict_of(dict_of(thread.get("env")).get("initial"))),
            model=next((one.model for one in reversed(messages) if one.model), None),
        )

    def _message(self, index: int, item: dict[str, Any]) -> Message:
        role_name, source, usage = item.get("role"), (index,), dict_of(item.get("usage"))
        time = seconds_of(dict_of(item.get("meta")).get("sentAt")) or seconds_of(usage.get("timestamp"))
        id = f"m{index + 1}"
        if role_name in ("info", "parent"):
            return _info_message(id, item, time, source)
        if role_name not in ("user", "assistant"):
            self.warn(f"message {index + 1} has the role {as_text(role_name)[:40]}; read as user")
        content = item.get("content")
        blocks = tuple(map(_block, content)) if isinstance(content, list) else from_anthropic(content)
        role: Role = "assistant" if role_name == "assistant" else "user"
        if role == "user" and any(isinstance(block, ToolResult) for block in blocks):
            role = "tool"
        kind, model = kind_of(role, blocks), word_of(usage.get("model"))
        return Message(id, role, blocks, kind, time, _usage(usage), model, source)


def _epochs(messages: tuple[Message, ...], branch: list[int], items: list[Any]) -> tuple[Epoch, ...]:
    epochs: list[Epoch] = []
    members: list[int] = []
    for index in branch:
        if messages[index].kind == "summary" and members:
            ended_by = Compaction(summary=messages[index].id, time=messages[index].time)
            epochs.append(Epoch(len(epochs) + 1, members, ended_by, window=_window(members, items)))
            members = []
        if messages[index].blocks:
            members.append(index)
    return (*epochs, Epoch(len(epochs) + 1, members, window=_window(members, items)))


def _window(members: list[int], items: list[Any]) -> int | None:
    limits = (
        count_of(dict_of(dict_of(items[index]).get("usage")).get("maxInputTokens")) for index in reversed(members)
    )
    return next((tokens for tokens in limits if tokens), None)


def _facts(env: dict[str, Any]) -> SessionFacts:
    trees = list_of(env.get("trees"))
    branch = text_of(dict_of(dict_of(trees[0]).get("repository")).get("ref")) if trees else ""
    version = text_of(dict_of(env.get("platform")).get("clientVersion"))
    return SessionFacts(version=version, git_branch=branch.removeprefix("refs/heads/"))


def _folder(thread: dict[str, Any]) -> str | None:
    """Return the first folder of the workspace, which is recorded as a `file:` URL."""
    trees = list_of(dict_of(dict_of(thread.get("env")).get("initial")).get("trees"))
    url = text_of(dict_of(trees[0]).get("uri")) if trees else ""
    if not url.startswith("file:"):
        return word_of(url)
    try:
        return unquote(urlsplit(url).path) or None
    except ValueError:  # not a URL
        return None


def _info_message(id: str, item: dict[str, Any], time: float | None, source: tuple[int, ...]) -> Message:
    """Return the message of an `info` item: a summary, or an empty meta message for a notice or link, never sent."""
    summaries = [dict_of(block.get("summary")) for block in map(dict_of, list_of(item.get("content")))]
    texts = [text for one in summaries if (text := word_of(one.get("summary")))]
    if texts:
        return Message(id, "user", tuple(map(Text, texts)), "summary", time, source=source)
    return Message(id, "system", (), "meta", time, source=source)


def _usage(counts: dict[str, Any]) -> Usage | None:
    usage = Usage(
        count_of(counts.get("inputTokens")),
        count_of(counts.get("outputTokens")),
        count_of(counts.get("cacheReadInputTokens")),
        count_of(counts.get("cacheCreationInputTokens")),
    )
    return usage if usage.context else None


def _block(item: Any) -> Block:
    block = dict_of(item)
    if block.get("type") == "image":
        source = dict_of(block.get("source"))
        item = {**block, "source": {**source, "media_type": source.get("mediaType", source.get("media_type"))}}
    if block.get("type") != "tool_result" or not isinstance(block.get("toolUseID"), str):
        return from_anthropic([item])[0]
    run = dict_of(block.get("run"))
    reason = text_of(run.get("reason")) if run.get("status") == "rejected-by-user" else ""
    return ToolResult(block["toolUseID"], _result(run), run.get("status") in _FAILED, reason)


def _result(run: dict[str, Any]) -> tuple[Text | Media, ...]:
    """Return the content that the model was sent for a tool run: its result, error, reason or progress."""
    error = dict_of(run.get("error")).get("message", run.get("error"))
    for value in (run.get("result"), error, run.get("reason"), run.get("progress")):
        if isinstance(value, list):
            return result_parts(value)
        if value is not None:
            inner = dict_of(value)
            text = inner.get("output", inner.get("content")) if inner else value
            return (Text(text if isinstance(text, str) else as_text(value)),)
    return (Text(as_text(run.get("status") or "")),)
