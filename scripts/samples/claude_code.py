"""Records a story as a Claude Code session: one content block per line, a message's id and usage on each of its lines.

A story calls `user`, `act` and `reply`; this module works out results on the story's repository, links the lines,
lets the context grow and writes the usage that an API with such a context would have billed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from samples.repo import Repo, hunks
from samples.text import Clock, Ids, approximate_tokens

Json = dict[str, Any]

OVERHEAD = 18_140
"""Tokens of the system prompt and the tool definitions, which a session file does not hold."""
PER_CALL = 84
"""Tokens that one API round trip adds beside its visible text."""


@dataclass
class Call:
    """A tool call with its result as the model sees it (`content`) and as the tool recorded it (`record`)."""

    name: str
    input: Json
    content: Any
    record: Any
    is_error: bool = False
    progress: Sequence[Json] = field(default=())
    tracked: str = ""


class ClaudeCode:
    def __init__(
        self, repo: Repo, *, cwd: str, session: str, branch: str, model: str, version: str, start: str
    ) -> None:
        self.repo, self.cwd, self.session, self.branch = repo, cwd, session, branch
        self.model, self.version = model, version
        self.lines: list[str] = []
        self.clock, self.ids, self.random = Clock(start), Ids(2187), Random(2187)
        self.context = float(OVERHEAD)
        self._cached = 0
        self._parent: str | None = None
        self._prompt_uuid = ""
        self._round_start = True
        self._tracked: Json = {}
        self._todos: list[Json] = []
        self._edited: set[str] = set()

    # -- what the story says

    def title(self, text: str) -> None:
        """A title line at the head of the file. It names the conversation's last line, and is no part of it."""
        self._write({"type": "summary", "summary": text, "leafUuid": self._parent})
        self.lines.insert(0, self.lines.pop())

    def user(self, text: str, *, after: float = 40, hook: bool = False) -> None:
        """A prompt that a person typed, `after` seconds."""
        self.clock.wait(after)
        self._prompt_uuid = self.ids.uuid()
        self._snapshot(self._prompt_uuid, update=False)
        self._chain(
            {"type": "user", "message": {"role": "user", "content": text}},
            uuid=self._prompt_uuid,
            tail={"thinkingMetadata": {"maxThinkingTokens": 31999}, "todos": self._todos, "permissionMode": "default"},
        )
        self._grow(text, 1.10)
        self._round_start = True
        if hook:
            self._hook("UserPromptSubmit", "UserPromptSubmit", "scripts/note-prompt.sh")

    def meta(self, text: str, *, is_meta: bool) -> None:
        """A line that the tool put into the conversation: a caveat, a command wrapper, an interruption."""
        line: Json = {"type": "user", "message": {"role": "user", "content": text}}
        self._chain(line | ({"isMeta": True} if is_meta else {}))
        self._grow(text, 1.10)

    def interrupt(self, *, in_tool: bool) -> None:
        text = "[Request interrupted by user for tool use]" if in_tool else "[Request interrupted by user]"
        self.clock.wait(3)
        self._chain({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
        self._grow(text, 1.10)

    def session_start(self) -> None:
        self._hook("SessionStart", "SessionStart:startup", "scripts/dev-banner.sh")

    def queued(self, text: str) -> None:
        """The user typed while the agent worked."""
        for operation in ("enqueue", "dequeue"):
            line: Json = {"type": "queue-operation", "operation": operation, "timestamp": self.clock.wait(1)}
            self._write(line | {"sessionId": self.session} | ({"content": text} if operation == "enqueue" else {}))

    def act(self, *calls: Call, think: str = "", say: str = "", after: float = 0) -> None:
        """One API message with tool calls, and their results."""
        self.clock.wait(after or self.random.uniform(4, 14))
        message = self._message(think, say, calls)
        # A tool may finish while later calls of its message still arrive, or after all of them did.
        streamed = len(calls) > 1 and self.random.random() < 0.5
        pending: list[tuple[Call, str, str]] = []
        for call, (call_id, line) in zip(calls, message, strict=True):
            uuid = line()
            self._progress(call, call_id, uuid)
            if call.tracked:
                self._track(call.tracked, uuid)
            if streamed:
                self._result(call, call_id, uuid)
            else:
                pending.append((call, call_id, uuid))
        if len(pending) > 2:
            self.random.shuffle(pending)
        for call, call_id, uuid in pending:
            self._result(call, call_id, uuid)

    def reply(self, text: str, think: str = "") -> None:
        """The last API message of a round: text without calls."""
        self.clock.wait(self.random.uniform(5, 18))
        self._message(think, text, ())
        if self.random.random() < 0.4:
            self._chain(
                {"type": "system", "subtype": "turn_duration", "durationMs": self.random.randrange(8000, 240_000)}
            )

    def start_reply(self, text: str) -> None:
        """Text that was cut off by an interruption."""
        self.clock.wait(4)
        self._message("", text, ())

    def too_long(self) -> None:
        """The API refuses: the tool writes an answer of its own."""
        self.clock.wait(2)
        usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {
            "id": self.ids.uuid(),
            "container": None,
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "type": "message",
            "usage": usage | {"service_tier": None},
            "content": [{"type": "text", "text": "Prompt is too long"}],
            "context_management": None,
        }
        self._chain(
            {"type": "assistant", "message": message}, tail={"error": "invalid_request", "isApiErrorMessage": True}
        )

    # -- how full it is

    def cost_of(self, text: str) -> float:
        """Tokens that `text` will take as a tool result."""
        return 1.10 * approximate_tokens(text)

    def room_below(self, limit: int) -> float:
        """Tokens that a tool result may take so that the next calls stay under `limit`."""
        return limit - self.context - 4 * PER_CALL

    # -- the tools

    def path(self, name: str) -> str:
        return f"{self.cwd}/{name}"

    def read(self, name: str, offset: int = 1, limit: int = 2000) -> Call:
        given: Json = {"file_path": self.path(name)}
        if offset > 1 or limit < 2000:
            given |= {"offset": offset, "limit": limit}
        if name not in self.repo.files:
            return Call("Read", given, "File does not exist.", "Error: File does not exist.", is_error=True)
        lines = self.repo.files[name].splitlines()
        shown = lines[offset - 1 : offset - 1 + limit]
        content = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(shown, offset))
        record = {
            "filePath": self.path(name),
            "content": "\n".join(shown),
            "numLines": len(shown),
            "startLine": offset,
            "totalLines": len(lines),
        }
        return Call("Read", given, content, {"type": "text", "file": record})

    def edit(self, name: str, old: str, new: str, count: int = 1) -> Call:
        before = self.repo.files[name]
        self.repo.replace(name, old, new, count)
        after = self.repo.files[name]
        given = {"replace_all": count > 1, "file_path": self.path(name), "old_string": old, "new_string": new}
        record: Json = {
            "filePath": self.path(name),
            "oldString": old,
            "newString": new,
            # Every edit records the file before it; one per file keeps the sample small.
            "originalFile": None if name in self._edited else before,
            "structuredPatch": hunks(before, after),
            "userModified": False,
            "replaceAll": count > 1,
        }
        self._edited.add(name)
        return Call("Edit", given, f"The file {self.path(name)} has been updated successfully.", record, tracked=name)

    def failed_edit(self, name: str, old: str, new: str) -> Call:
        """An edit whose text is not in the file."""
        given = {"replace_all": False, "file_path": self.path(name), "old_string": old, "new_string": new}
        if old in self.repo.files[name]:
            raise ValueError(f"{name} does hold {old[:60]!r}")
        error = f"String to replace not found in file.\nString: {old}"
        return Call("Edit", given, f"<tool_use_error>{error}</tool_use_error>", f"Error: {error}", is_error=True)

    def write(self, name: str, text: str) -> Call:
        before = self.repo.files.get(name)
        self.repo.files[name] = text
        kind, verb = ("create", "created") if before is None else ("update", "updated")
        patch = hunks(before, text) if before is not None else []
        record = {"type": kind, "filePath": self.path(name), "content": text, "structuredPatch": patch}
        given = {"file_path": self.path(name), "content": text}
        content = f"File {verb} successfully at: {self.path(name)}"
        return Call("Write", given, content, record | {"originalFile": before}, tracked=name)

    def bash(self, command: str, output: str, why: str, *, error: bool = False, ticks: int = 0) -> Call:
        """A command. `error` gives the result of a command that failed; `ticks` lines of progress come before it."""
        record: Any = {
            "stdout": output,
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
        }
        if error:
            record = f"Error: {output}"
        shown = output.splitlines()
        progress = [
            {
                "type": "bash_progress",
                "output": "\n".join(shown[: 4 * (tick + 1)]),
                "fullOutput": "\n".join(shown[: 4 * (tick + 1)]),
                "elapsedTimeSeconds": 3 + tick,
                "totalLines": 4 * (tick + 1),
                "timeoutMs": 120_000,
            }
            for tick in range(ticks)
        ]
        return Call("Bash", {"command": command, "description": why}, output, record, error, progress)

    def grep(self, pattern: str, under: str = "", suffix: str = "") -> Call:
        found = self.repo.grep(pattern, under, suffix)
        content = "\n".join(f"{path}:{number}:{line}" for path, number, line in found) or "No matches found"
        given: Json = {"pattern": pattern, "output_mode": "content", "-n": True}
        given |= {"path": self.path(under)} if under else {}
        given |= {"glob": f"*{suffix}"} if suffix else {}
        record = {"mode": "content", "numFiles": 0, "filenames": [], "content": content, "numLines": len(found)}
        return Call("Grep", given, content, record)

    def glob(self, pattern: str, under: str, suffix: str) -> Call:
        names = [self.path(p) for p in sorted(self.repo.files) if p.startswith(under) and p.endswith(suffix)]
        record = {"filenames": names, "durationMs": 12, "numFiles": len(names), "truncated": False}
        return Call("Glob", {"pattern": pattern}, "\n".join(names) or "No files found", record)

    def todos(self, *items: tuple[str, str]) -> Call:
        """The task list: (state, task), state one of x (done), > (in progress) or a blank (pending)."""
        states = {"x": "completed", ">": "in_progress", " ": "pending"}
        new = [{"content": task, "status": states[s], "activeForm": task} for s, task in items]
        record = {"oldTodos": self._todos, "newTodos": new}
        self._todos = new
        return Call("TodoWrite", {"todos": new}, "Todos have been modified successfully.", record)

    def task(self, title: str, prompt: str, answer: str) -> Call:
        """A sub-agent. Its own messages appear only inside progress lines, which no model is sent."""
        agent = self.ids.named("a", 6).lower()
        steps = [
            {"role": "user", "content": [{"type": "text", "text": prompt}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Looking through the web client first."}]},
        ]
        progress = [
            {
                "message": {
                    "type": step["role"],
                    "message": step,
                    "uuid": self.ids.uuid(),
                    "timestamp": self.clock.stamp(),
                },
                "normalizedMessages": [],
                "type": "agent_progress",
                "prompt": prompt,
                "agentId": agent,
            }
            for step in steps
        ]
        content = [
            {"type": "text", "text": answer},
            {"type": "text", "text": f"agentId: {agent} (for resuming to continue this agent's work if needed)"},
        ]
        record = {
            "status": "completed",
            "prompt": prompt,
            "agentId": agent,
            "content": content[:1],
            "totalDurationMs": 48_210,
            "totalTokens": 21_407,
            "totalToolUseCount": 11,
        }
        given = {"description": title, "prompt": prompt, "subagent_type": "Explore"}
        return Call("Task", given, content, record, progress=progress)

    def refused(self, call: Call) -> Call:
        """The user said no to a call."""
        text = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected. Wait for the user to tell "
            "you how to proceed."
        )
        return Call(call.name, call.input, text, "User rejected tool use", is_error=True)

    # -- the lines

    def _write(self, line: Json) -> None:
        self.lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def _chain(self, line: Json, *, parent: str | None = None, uuid: str = "", tail: Json | None = None) -> str:
        """Write a line of the conversation behind `parent`, by default behind the last one."""
        uuid = uuid or self.ids.uuid()
        head = {
            "parentUuid": parent or self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
        }
        self._write(head | line | {"uuid": uuid, "timestamp": self.clock.wait(0.09)} | (tail or {}))
        self._parent = uuid
        return uuid

    def _hook(self, event: str, name: str, command: str) -> None:
        data = {"type": "hook_progress", "hookEvent": event, "hookName": name, "command": command}
        use = self.ids.uuid()
        self._chain({"type": "progress", "data": data, "parentToolUseID": use, "toolUseID": use})

    def _progress(self, call: Call, call_id: str, uuid: str) -> None:
        """Progress of a running call hangs on the call as a side branch: its result hangs on the call too."""
        for number, data in enumerate(call.progress):
            self.clock.wait(1)
            use = f"bash-progress-{number}" if call.name == "Bash" else f"agent_{call_id}"
            self._chain({"type": "progress", "data": data, "toolUseID": use, "parentToolUseID": call_id})
        self._parent = uuid

    def _snapshot(self, message: str, *, update: bool) -> None:
        snapshot = {
            "messageId": self._prompt_uuid or message,
            "trackedFileBackups": dict(self._tracked),
            "timestamp": self.clock.stamp(),
        }
        line = {"type": "file-history-snapshot", "messageId": message, "snapshot": snapshot, "isSnapshotUpdate": update}
        self._write(line)

    def _track(self, name: str, uuid: str) -> None:
        if name in self._tracked:
            return
        backup = {"backupFileName": None, "version": 1, "backupTime": self.clock.stamp()}
        # The list of all tracked files would be most of the file, so a snapshot names the new one only.
        self._tracked = {name: backup}
        self._snapshot(uuid, update=True)

    def _message(self, think: str, say: str, calls: Sequence[Call]) -> list[Any]:
        """Write an API message's text lines now; return, for each call, its id and a function that writes its line."""
        blocks: list[Json] = []
        if think:
            blocks.append({"type": "thinking", "thinking": think, "signature": self.ids.blob(150 + len(think) // 2)})
        if say:
            blocks.append({"type": "text", "text": say})
        used = [
            {"type": "tool_use", "id": self.ids.named("toolu_01"), "name": call.name, "input": call.input}
            for call in calls
        ]
        visible = think + say + "".join(json.dumps(block["input"], ensure_ascii=False) for block in used)
        output = round(1.18 * approximate_tokens(visible) + 30 + 45 * len(used))
        usage = self._usage(output)
        message = self.ids.named("msg_01")
        request = self.ids.named("req_011C", 20)
        total = len(blocks) + len(used)
        repeats_final = self.random.random() < 0.7
        written = 0

        def line(block: Json) -> str:
            nonlocal written
            written += 1
            final = written == total or repeats_final
            body = {
                "model": self.model,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage | {"output_tokens": output if final else min(output, 1 + written)},
            }
            self.clock.wait(0.6)
            return self._chain({"type": "assistant", "message": body}, tail={"requestId": request})

        for block in blocks:
            line(block)
        self.context += output
        return [(block["id"], lambda block=block: line(block)) for block in used]

    def _usage(self, output: int) -> Json:
        """What the API bills for the context as it stands: the part it had before comes from its cache."""
        self.context += PER_CALL
        prompt = round(self.context)
        fresh = 3 if self._round_start else 1
        self._round_start = False
        read = self._cached if self._cached else 15_902
        self._cached = prompt - fresh
        return {
            "input_tokens": fresh,
            "cache_creation_input_tokens": prompt - fresh - read,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": prompt - fresh - read, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output,
            "service_tier": "standard",
        }

    def forget_cache(self) -> None:
        """A pause longer than the cache lives: only the system prompt and the tools are still cached."""
        self._cached = 0

    def _result(self, call: Call, call_id: str, call_line: str) -> None:
        self.clock.wait(self.random.uniform(0.1, 2.5) + 2 * len(call.progress))
        block: Json = {"tool_use_id": call_id, "type": "tool_result", "content": call.content}
        if call.is_error or call.name == "Bash":
            block["is_error"] = call.is_error
        self._chain(
            {"type": "user", "message": {"role": "user", "content": [block]}},
            parent=call_line,
            tail={"toolUseResult": call.record, "sourceToolAssistantUUID": call_line},
        )
        text = call.content if isinstance(call.content, str) else json.dumps(call.content, ensure_ascii=False)
        self._grow(text, 1.10)

    def _grow(self, text: str, factor: float) -> None:
        self.context += factor * approximate_tokens(text)
