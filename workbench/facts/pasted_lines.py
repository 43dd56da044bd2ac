"""Weight of a line of a user's text: positive if it looks pasted, negative if it looks typed.

Also the place where a paste begins or ends within a line.
"""

from __future__ import annotations

import re
from typing import Literal

from workbench.facts.word_tables import pattern

PassageKind = Literal["own", "code", "output", "document"]

JUDGED_CHARS = 400
"""Most characters of a line that are judged."""

OUTPUT, CODE, LIKE, PROSE_LIKE = 6, 4, 3, 1
"""Weights of pasted lines. OUTPUT: only programs write it (`_OUTPUT`). CODE: code, a labelled line, or a line that a
terminal wrapped. LIKE: looks like output (`_LIKE`) and is not prose, or is labelled prose. PROSE_LIKE: looks like
output and is prose."""
PROSE, PERSON, ALONE, LOWER, PLAIN, ADDRESS, ANNOUNCING = -2, -9, -4, -2, -7, -3, -5
"""Weights of typed lines, added up. PROSE: any prose. PERSON: first person singular. ALONE: blank lines around it.
LOWER: begins in lower case. PLAIN: begins in lower case and has only words. ADDRESS: addresses the agent. ANNOUNCING:
ends with a colon."""

SHELL = (
    r"(?:\[[^\]\n]{0,80}[~@][^\]\n]{0,80}\] ?|[➜❯] {1,2}(?:\S{1,80} (?:git:\(.{1,80}?\) )?(?:✗ )?)?|[$%] "
    r"|(?:PS )?[A-Z]:\\[^>\n]{0,120}> ?|\S{1,40}@[\w.-]{1,60}[ :]\S{0,80} ?[%$#] )"
)
"""Pattern of a shell prompt."""

_OUTPUT = re.compile(
    # stack frames and errors
    r"\s+at \S.{0,400}[:(]|\s+at [\w.<>$]{1,80}$|\s*File \".{1,400}\", line \d|Traceback \(most recent|panic: "
    r"|goroutine \d|\w{0,40}(?:Error|Exception|Panic)\b.{0,40}:|[\d. ]*npm (?:ERR|error|notice|warn)\b|Node\.js v\d"
    r"|\(node:\d+\)"
    # places in files
    r"|\s*\S{1,200}\.\w{1,5}:\d+(?::\d+)?(?:$|:| -| (?=[A-Z(\[]))|\(?\S{1,200}:\d+:\d+\)?\s*$"
    r"|\s*\(?[\w<>.]{1,80}\)? @ \S{1,200}:\d+"
    r"|\S+ \(\d+:\d+\)$|file:///\S+:\d+$|\s*(?:> )?\d+ \| |\s*(?:[│|]\s*)?[\^~][\^~ ]*$"
    # times, levels and results
    r"|.{0,4}\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\w{1,20} {1,2}\d{1,2} \d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,: ]"
    r"|\[\d\d/\d\d/\d\d[ \]]|\s*\[(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL)\]"
    r"|\s*(?:PASS(?:ED)?|FAIL(?:ED)?|ok|not ok)\b[ :]\s*\S+\.\w"
    # rules, boxes, patches, data and prompts
    r"|\s*[-=_*─━═╌╍~│┃⸻]{10,}\s*$|⸻|\s*[│┃╭╰├└┌⎿⏺]|diff --git |@@ -\d|\+\+\+ |--- (?:[ab]/|FAIL|PASS)|=== \w+|\[\+\] "
    r"|\s*=> (?:=>|\[)|\s*\{\"\w+\":|\S{1,40}@\S{1,60} .{0,80}[%$#](?: |$)|[➜❯$] {1,2}\S|[A-Z]:\\[^>\n]{0,120}>\S"
)
"""Lines that only programs write."""

_LIKE = re.compile(
    r".*\S {3,}\S|\s+\S.{0,40}\S {2,}\S|.*\S {4,}$|\s*\S{0,60}[/\\]\S*\.\w{1,8},?\s*$"
    r"|\s*[~/][\w.@-]*/\S*(?: \(\S+\))?\s*$"
    r"|\s*\[[\w.:/@-]+(?: [\w.:/@-]+)?\]|\s*(?![`\"'(*#@<>{/•«“„¿¡-])[^\w\s]|.{1,120} ([|·•]) .{1,120} \1 |[-=]{1,2}> "
    r"|\w{0,20}(?:rror|arning|xception|atal)s?: \S|.*\d(?:ms|s|%|[KMG]i?B)\s*$"
    r"|[^\s;,]+([;,])[^\s;,]*(?:\2[^\s;,]*)+$|[+-](?:\t|  )"
)
"""Lines that programs rather than people write: columns, padding, paths, labels in brackets, signs at the beginning,
durations, fields with separators."""

_CODE = re.compile(
    r"\s*(?:import|from|def|class|const|let|var|function|return|public|private|static|func|fn|struct|impl|package|"
    r"#include|using|namespace|if|for|while|else|elif|try|catch|except|async|await|export|type|interface|end|"
    r"SELECT|INSERT|CREATE|UPDATE|FROM|WHERE|JOIN)\b.*[(\[{=;:)}\]*]|\s*[\w.]{1,80}\s?(?:=|\+=|:=)\s?\S|\s*</?[a-zA-Z][^>]*>"
    r"|\s*[}\])]+[;,)]*\s*$|\s*(?://|/\*|\*/|#!)|\s*[\"'][^\"']{1,100}[\"']\s?:|\s*@\w+"
)
_CODE_END = re.compile(r"[{};,(\[]\s*$|\)\s*[;:{]\s*$|=>\s*$|/?>\s*$")
_STATEMENT = re.compile(
    r"\s*(?:(?:import|const|let|var|return|function|export|public|private|static)\b.*[;{]\s*$|from [\w.]+ import "
    r"|(?://|/\*) |SELECT \S|(?:FROM|JOIN) \w+(?: \w+)?(?:$| ON )|WHERE .*[=<>]|(?:GROUP|ORDER) BY )"
)
_SIGN = re.compile(r"[{}\[\]()<>=;|\\/_$#@&*^~+%\"]")
_TAG = re.compile(r"\s*</?[\w-]{1,60}>\s*")
"""A tag alone on its line; users set off their own text with such tags, too."""
_WORD = re.compile(r"(?<!\S)[(\"'“«]?[^\W\d_]+(?:['’-][^\W\d_]+)?[.,:;!?)\"'”»…]*(?!\S)")
_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)、])\s+")
_LABEL = re.compile(r"[\[<]\S{2,}[\]>]:?|(?>\S*?\w[:/#])\S+:")
"""The second part is atomic: trying each later sign (`:`, `/`, `#`) as well would take quadratic time."""
_BREAK = re.compile(r"(?:^/[a-z-]{2,20}|[\w)\"'’»”][:：.!?])\s+(?=\S)|\w\s+(?=\S{1,40}@[\w.-]{1,60} \S{1,80} [%$#])")
"""Places where a paste may begin: after a slash command, a colon or a sentence, and at a prompt."""
_TAIL = re.compile(r"(?<=\s)(?:i|i['’]\w+|this|that|why|can|please|let['’]?s|fix)(?: [a-z'’,]+){3,}[.?!]*$")
"""Typed words at the end of a line of output: "i", "why", "please", "fix" or the like, and three or more words."""
_WRAPPED = range(90, 260)
"""Widths to which terminals wrap the text that is copied from them, in characters."""


def judge(line: str, before: str, after: str, is_labelled: bool = False) -> tuple[int, PassageKind]:
    """Return the weight of a line, and the kind of passage that it indicates. `before` and `after` are the neighbouring
    lines, "" without one. `is_labelled`: several lines of the text have this line's label."""
    if _OUTPUT.match(line):
        return (0 if line[0].islower() and says_i(line) else OUTPUT), "output"
    if is_code(line):
        return CODE, "code"
    if is_labelled:
        return LIKE if _is_prose(line) else CODE, "output"
    has_person = says_i(line)
    if not has_person and (_is_wrapped(before, line) or _is_wrapped(line, after)):
        return CODE, "document"
    is_like = _LIKE.match(line) is not None
    announcing = ANNOUNCING if line.rstrip().endswith((":", "：")) else 0
    if not _is_prose(line):
        return (PERSON // 2 if has_person else LIKE if is_like else announcing), "output"
    if has_person:
        return PROSE + PERSON, "own"
    if is_like or line.startswith("    "):
        return PROSE_LIKE if is_like else 0, "output"
    weight = PROSE - len(line) // 100 + (LOWER if line[0].islower() else 0) + announcing
    weight += PLAIN if _is_plain(line) and len(line.split()) >= 3 else 0
    weight += ADDRESS if pattern("typed", "address").search(line.lower()) else 0
    return weight + (0 if before.strip() or after.strip() else ALONE), "own"


def says_i(text: str) -> bool:
    """Return whether a text has words of the first person singular, in any language of the word tables."""
    return pattern("typed", "self").search(text.lower()) is not None


def is_code(line: str) -> bool:
    """Return whether a line is code or data: a statement, or a line with two of five marks of code (three if it is also
    prose). List items and lone tags are not."""
    if not line.strip() or _BULLET.match(line) or _TAG.fullmatch(line):
        return False
    if _STATEMENT.match(line):
        return True
    marks = (
        (_CODE.match(line) is not None)
        + (_CODE_END.search(line) is not None)
        + (_sign_share(line) >= 0.12)
        + (line[0] in " \t")
        + (max(map(len, line.split())) >= 60)
    )
    return marks >= (3 if _is_prose(line) else 2)


def _is_prose(line: str) -> bool:
    """Return whether a line has four words or CJK characters and few signs, or is `_is_plain`."""
    several = len(_WORD.findall(line)) >= 4 or len(_CJK.findall(line)) >= 4
    return (several and _sign_share(line) < 0.08) or _is_plain(line)


def _is_plain(line: str) -> bool:
    return line[0].islower() and len(_WORD.findall(line)) == len(line.split())


def _sign_share(line: str) -> float:
    return len(_SIGN.findall(line)) / (len(line.strip()) or 1)


def _is_wrapped(line: str, after: str) -> bool:
    """Return whether a terminal wrapped a line: it is wide and its sentence is open, and the next line is indented."""
    return (
        len(line.rstrip()) in _WRAPPED
        and line.rstrip()[-1] not in ".!?:"
        and 1 <= len(after) - len(after.lstrip()) <= 6
        and not _BULLET.match(after)
    )


def label(line: str) -> str:
    """Return the first word of a line if it is a label as programs write it ("[INFO]", "src/a.ts:12:"), else "". Reads
    the first `JUDGED_CHARS` characters only, as the pattern takes quadratic time."""
    word = next(iter(line[:JUDGED_CHARS].split(maxsplit=1)), "")
    return word if _LABEL.fullmatch(word) and not _BULLET.match(f"{word} ") else ""


def paste_begin(line: str, after: str) -> int:
    """Return the index at which a paste begins after typed words of a line; 0 if there is none. The paste is output, or
    looks like it and follows a slash command or precedes a line of output."""
    for found in _BREAK.finditer(line):
        typed, rest = line[: found.end()], line[found.end() :]
        if _OUTPUT.match(typed) or _LIKE.match(typed):
            return 0
        is_like = _LIKE.match(rest) and (typed.startswith("/") or _OUTPUT.match(after))
        if (is_like or _OUTPUT.match(rest)) and _LETTER.search(typed):
            return found.end()
    return 0


def typed_tail(line: str) -> int:
    """Return the index at which typed words begin after output on a paste's last line; the line's length if there are
    none."""
    found = _TAIL.search(line.rstrip())
    return found.start() if found and (_OUTPUT.match(line) or _LIKE.match(line)) else len(line)
