"""What a trial saw, made small: a session file, with what lies beside it, and the request that followed, as fixtures of
`tests/interop/`.

Nothing of a vendor's is kept, which a test there holds: every line of every text that was not invented for the scene is
replaced by filler, in the file and in the request alike, so that what is equal stays equal. Folders get invented names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from interop.homes import PROJECT, ROOT, Home
from interop.tool import Tool
from interop.trial import Seen, Trial, Verdict, scene
from interop.units import Protocol

FIXTURES = ROOT.parent / "tests" / "interop" / "recorded"
_CONVERSATION: dict[Protocol, str] = {
    "anthropic": "messages",
    "responses": "input",
    "chat": "messages",
    "gemini": "contents",
}
"""Where a request of a protocol has its conversation; nothing else of it is kept."""


def record_all(tool: Tool, trial: Trial, home: Home) -> None:
    """A fixture for the session as the tool made it, for its own compaction, and for one of ours."""
    ours = (verdict for verdict in trial.ours.verdicts if verdict.of == "exchange-summary, pinned")
    chosen = {"made": trial.read.verdicts, "its-own-compaction": trial.own.verdicts[:1], "our-compaction": tuple(ours)}
    kept = partial(_is_kept, lines=_invented(tool, home), words=tool.words)
    for name, verdicts in chosen.items():
        for verdict in verdicts:
            if verdict.seen and verdict.seen.data and not verdict.difference:
                _write(name, tool, verdict, verdict.seen, _filler(home, kept))


def _invented(tool: Tool, home: Home) -> frozenset[str]:
    """Every line that was made up for a trial: prompts, answers, calls and what they find."""
    turns = [request.answer for request in home.server.requests]
    calls = [form for turn in turns for call in turn.calls for form in _forms(call.arguments)]
    said = [text for turn in turns for text in (turn.text, turn.reasoning)]
    found = [text for name, text in PROJECT.items() if name != "long.txt"]
    texts = (*scene(tool.read), *said, *calls, *found, home.server.summary)
    return frozenset(line.strip() for text in texts for line in text.split("\n"))


def _forms(arguments: Mapping[str, Any]) -> Iterator[str]:
    """How the arguments of a call may stand in a file or a request: as JSON, spaced or not, and each by itself."""
    yield json.dumps(arguments, ensure_ascii=False)
    yield json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    yield from (value for value in arguments.values() if isinstance(value, str))


def _write(name: str, tool: Tool, verdict: Verdict, seen: Seen, fill: Callable[[Any], Any]) -> None:
    """The session's file, and `name`.sent.json with the request's conversation and what had to be allowed."""
    folder = FIXTURES / tool.id
    folder.mkdir(parents=True, exist_ok=True)
    text = _filled_document(seen.data, fill)
    beside = _filled_document(seen.beside, fill)
    protocol = seen.request.protocol
    sent = {
        "version": tool.package.version,
        "allowed": verdict.allowed,
        "prompt": seen.prompt,
        "protocol": protocol,
        "body": {_CONVERSATION[protocol]: fill(seen.request.body[_CONVERSATION[protocol]])},
    }
    told = json.dumps(sent, ensure_ascii=False, indent=1) + "\n"
    if str(ROOT.parent) in text + beside + told:
        raise ValueError(f"{tool.id}/{name}: a folder of this machine is still in it")
    path = folder / (name + "".join(Path(seen.file).suffixes))
    path.write_text(text, encoding="utf-8")
    if tool.beside and beside:
        tool.beside(path).write_text(beside, encoding="utf-8")
    (folder / f"{name}.sent.json").write_text(told, encoding="utf-8")


def _filled_document(data: bytes, fill: Callable[[Any], Any]) -> str:
    """The lines of a file of JSON, or the whole of one that is a document, each on a line; or a chat in Markdown."""
    for parts in ([data], [line for line in data.split(b"\n") if line.strip()]):
        with suppress(ValueError):
            return "".join(f"{json.dumps(fill(json.loads(part)), ensure_ascii=False)}\n" for part in parts)
    return _filled_chat(data.decode().split("\n"), fill)


def _filled_chat(lines: Sequence[str], fill: Callable[[Any], Any]) -> str:
    """aider's history: headings as they are, the person's lines behind their mark, nothing of the console."""
    told: list[str] = []
    for mark, run in groupby(
        lines, key=lambda line: next((m for m in ("#### ", "> ", "# ") if line.startswith(m)), "")
    ):
        these = list(run)
        match mark:
            case "# ":
                told += these
            case "> ":
                told.append("> [left out]")
            case _:
                told += (mark + line for line in fill("\n".join(line[len(mark) :] for line in these)).split("\n"))
    return "\n".join(told)


def _filler(home: Home, kept: Callable[[str], bool]) -> Callable[[Any], Any]:
    """What puts filler into every text of a JSON value, and invented folders in place of this machine's."""
    dashed = re.sub(r"[^A-Za-z0-9]", "-", str(home.project))
    folders = {str(home.project): "/home/ada/mill", str(home.home): "/home/ada", dashed: "-home-ada-mill"}
    folders |= {str(home.bin): "/usr/bin"}

    def moved(text: str) -> str:
        for here, there in folders.items():
            text = text.replace(here, there)
        return text

    def field(key: str, value: Any) -> Any:
        if key in _SCHEMAS and isinstance(value, dict):
            return {"type": "object"}
        return _emptied(value) if key in _PROMPTS or key.endswith("_template") else fill(value)

    def fill(value: Any) -> Any:
        match value:
            case str() if (inner := _json_in(value)) is not None:
                return json.dumps(fill(inner), ensure_ascii=False, separators=(",", ":"))
            case str():
                return "\n".join(_filled(moved(value).split("\n"), kept))
            case list():
                return [fill(one) for one in value]
            case dict():
                whole = value | ({"content": "[left out]"} if _is_prompt(value) else {})
                return {moved(key): field(key, one) for key, one in whole.items()}
            case _:
                return value

    return fill


def _json_in(text: str) -> Any:
    """The object or list that a text is, None for any other."""
    with suppress(ValueError):
        return json.loads(text) if text.startswith(('{"', '[{"')) else None
    return None


def _is_prompt(message: Mapping[str, Any]) -> bool:
    """A message of a chat body that may be a vendor's prompt as a whole."""
    return message.get("role") == "system" and isinstance(message.get("content"), str)


_PROMPTS = (
    "system",
    "systemPrompt",
    "system_prompt",
    "dynamic_context",
    "base_instructions",
    "instructions",
    "description",
    "sections",
)
_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
"""Keys under which a vendor's system prompts stand, and its tools' descriptions and schemas."""


def _emptied(value: Any) -> Any:
    """A system prompt or a schema with nothing in it but its form."""
    match value:
        case str():
            return "[left out]"
        case list():
            return [_emptied(one) for one in value]
        case dict():
            return {key: one if key == "type" else _emptied(one) for key, one in value.items()}
        case _:
            return value


def _filled(text: Sequence[str], kept: Callable[[str], bool]) -> Iterator[str]:
    """The lines of a text, each run of those that nobody invented as one."""
    for is_kept, run in groupby(text, key=kept):
        these = list(run)
        if is_kept:
            yield from these
        else:
            mark = hashlib.sha256("\n".join(these).encode()).hexdigest()[:6]
            yield f"[left out: {len(these)} lines, {mark}]"


TAGS = re.compile(r'\A(?:<[\w-]+(?: [\w-]+="[^"<>]*")*>)+|(?:</[\w-]+>)+\Z')
"""What a tool may put around a line in the line itself."""


def _is_kept(line: str, lines: frozenset[str], words: Sequence[str]) -> bool:
    """One that says nothing (an id, a tag, a path), or that was invented."""
    bare = TAGS.sub("", line.strip())
    said = re.fullmatch(
        r"</?[\w-]+( [\w ]+)?>|<total_tokens>.*</total_tokens>|\.\.\.\[truncated \d+ chars\]\.\.\.", bare
    )
    known = bare in lines or any(bare in text for text in words)
    return not re.search(r"\s", bare) or bool(said) or known or bare.startswith("Go on ")
