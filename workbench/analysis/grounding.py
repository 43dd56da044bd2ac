"""Grounding of summaries without a model: each claim is looked up in the head that the summary replaces.

Claims are paths, commands, identifiers, numbers and quotations, which must occur in the head, and attributions ("the
user said, asked, wants …"), which must match the user's own words. A claim that is not found may still be true (a sum,
a paraphrase), so it is shown and not judged. For lost facts see `workbench.analysis.retention`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from workbench.analysis.head_index import HeadIndex, stems
from workbench.base.figures import whole_number
from workbench.base.secrets import without_secrets
from workbench.compaction.outcome import NewMessage, Outcome
from workbench.compaction.summary_request import Summary
from workbench.facts.fences import fences
from workbench.facts.references import IDS, NAMES
from workbench.facts.wording import prose
from workbench.session import Message, Text
from workbench.summarizers.driver import Run

ENOUGH_WORDS = 0.5
"""Share of an attribution's words that one message of the user must have, or `ENOUGH_WORDS_OF_ALL` of all together."""

ENOUGH_WORDS_OF_ALL = 0.8

_INSERTED = re.compile(r"\[[^\[\]]{0,120}\]")
"""Editorial insertion in a quotation ("[log output]"), which replaces omitted text."""


class UnsupportedClaim(Struct, frozen=True):
    """Claim at `summary[start:stop]` that is not in the head. `text` was looked up."""

    kind: ClaimKind
    text: str
    start: int
    stop: int


class Grounding(Struct, frozen=True):
    """Number of claims checked by kind, and those not found, by position."""

    checked: dict[ClaimKind, int]
    unsupported: tuple[UnsupportedClaim, ...]

    @property
    def claims(self) -> int:
        """Number of claims checked."""
        return sum(self.checked.values())


class SummaryChecker:
    """Head prepared for checking summaries. Building reads the whole head; checks are fast enough for every edit.

    Never changes after it is built; may be built in one thread and used in another.
    """

    def __init__(self, head: Sequence[Message], earlier: str = "") -> None:
        """Index the messages without their secrets. `earlier` is a previous summary that the summarizer received with
        the head."""
        if earlier:
            head = [*head, Message("earlier", "user", (Text(without_secrets(earlier)),), "summary")]
        self._index = HeadIndex(head)
        texts = (prose(m.text if m.kind == "summary" else m.user_text) for m in head)
        self._user_words = [words for text in texts if (words := stems(text))]
        self._all_user_words = frozenset[str]().union(*self._user_words)

    def check(self, summary: str) -> Grounding:
        """Check the claims of a summary; claims with a secret are left out."""
        clean = without_secrets(summary)
        claims = [claim for claim in claims_in(summary) if summary[claim.start : claim.stop] in clean]
        missing = tuple(
            UnsupportedClaim(claim.kind, claim.subject, claim.start, claim.stop)
            for claim in claims
            if not self._holds(claim)
        )
        return Grounding(dict(Counter(claim.kind for claim in claims)), missing)

    def _holds(self, claim: Claim) -> bool:
        match claim.kind:
            case "path":
                return self._has_path(claim.subject)
            case "quotation":
                return self._index.says(claim.subject) or self._index.says(_INSERTED.sub("…", claim.subject))
            case "number":
                return any(map(self._index.has_number, _spellings(claim.subject)))
            case "attribution":
                return self._is_user_statement(claim.subject)
            case "command":
                return self._index.has(claim.subject) or self._index.says(claim.subject)
        return self._index.has(claim.subject)

    def _has_path(self, path: str) -> bool:
        """True if a path occurs in the head, or both its folder and the rest do."""
        if self._index.has_path(path):
            return True
        rooted = path[:1] in "/~" or path[1:2] == ":"
        parts = path.replace("\\", "/").split("/")
        return rooted and any(
            self._index.has_path("/".join(parts[:cut])) and self._index.has_path("/".join(parts[cut:]))
            for cut in range(3, len(parts))
        )

    def _is_user_statement(self, subject: str) -> bool:
        words = stems(subject)
        if len(words) < 2:
            return True
        if any(len(words & user_words) >= ENOUGH_WORDS * len(words) for user_words in self._user_words):
            return True
        return len(words & self._all_user_words) >= ENOUGH_WORDS_OF_ALL * len(words)


def _spellings(number: str) -> list[str]:
    """Return a number with and without thousands separators."""
    plain = number.replace(",", "").replace("_", "").replace("\u202f", "")
    whole, dot, fraction = plain.partition(".")
    spellings = [number, plain]
    if (count := whole_number(whole)) is not None and len(whole) > 3:
        spellings += [f"{count:,}".replace(",", separator) + dot + fraction for separator in (",", "_", " ")]
    return list(dict.fromkeys(spellings))


def run_grounding(run: Run) -> Grounding | None:
    """Return the grounding of the summaries in a run's outcome; None without one.

    Positions (`UnsupportedClaim.start`) refer to each claim's own summary. Summaries that a later one replaced are left
    out.
    """
    pairs = [
        (request, answer)
        for request, answer in zip(run.requests, run.answers, strict=True)
        if isinstance(answer, Summary) and _is_in_outcome(answer.text, run.outcome)
    ]
    if not pairs:
        return None
    found = [SummaryChecker(request.masked, request.previous).check(answer.text) for request, answer in pairs]
    checked: Counter[ClaimKind] = Counter()
    for one in found:
        checked.update(one.checked)
    return Grounding(dict(checked), tuple(missing for one in found for missing in one.unsupported))


def _is_in_outcome(text: str, outcome: Outcome) -> bool:
    words = text.strip()
    return any(words[:400] in piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage)) or words[
        :400
    ] in (outcome.memories or "")


ClaimKind = Literal["path", "command", "identifier", "number", "quotation", "attribution"]


class Claim(Struct, frozen=True):
    """Claim at `text[start:stop]` of the summary; `subject` is the text to look up."""

    kind: ClaimKind
    subject: str
    start: int
    stop: int


_CODE = re.compile(r"`([^`\n]{2,400})`")

_URL = re.compile(r"\bhttps?://[^\s<>\"'`)\]]+")

_QUOTED = re.compile(
    r"“([^“”]{6,2000})”|「([^「」]{4,1000})」|『([^『』]{4,1000})』|(?<![\w=(\[{:,\\])\"([^\"\n]{8,600})\"(?!\w)"
)

_EXTENSION = (
    r"(?:py|pyi|tsx?|jsx?|mjs|cjs|go|rs|md|mdx|jsonl?|ya?ml|toml|sh|css|scss|html?|txt|sql|java|kt|rb|php|c|h|cc|cpp|hpp|"
    r"cs|swift|cfg|ini|lock|vue|svelte|ex|exs|env|log|csv|xml|proto|ipynb|gradle|tf|conf|svg|png)"
)

_PATH = re.compile(
    r"(?<![\w/\\.@:~<-])(?:[A-Za-z]:[\\/]|~[\\/]|\.{1,2}[\\/]|[\\/])?(?:[\w.@+-]+[\\/])+(?:[\w.@+-]*\w)?"
    rf"|(?<![\w/\\.@-])[\w-][\w.-]*\.{_EXTENSION}\b(?![\w(/])"
)

_HAS_EXTENSION = re.compile(rf"\.{_EXTENSION}$")

_NUMBER = re.compile(
    r"(?<![\w.,:/#$×~≈+-])(?:v(?=\d+\.))?\d{1,3}(?:[,_\u202f]\d{3})+(?:\.\d+)?(?![\d.,]*\d)|"
    r"(?<![\w.,:/#$×~≈+-])(?:v(?=\d+\.))?\d+(?:\.\d+)*(?![\d,]*\d)"
)

_ATTRIBUTED = re.compile(
    r"(?<!what the )(?<!What the )(?<!as the )(?<!As the )\b[Uu]sers? "
    r"(?:(?:has|have|had|also|then|later|now|explicitly|repeatedly|clearly|strongly|first|finally|specifically|initially|"
    r"originally) )*"
    r"(?:said|says|asks?|asked|wants?|wanted|requests?|requested|prefers?|preferred|insists?|insisted|told|"
    r"instructs?|instructed|demands?|demanded|confirms?|confirmed|agreed|approved|rejected|explained|mentioned|"
    r"reported|complained|specified|states?|stated|decided|expects?|expected|clarified|pointed out|would like|"
    r"forbade|forbids|emphasi[sz]ed|warned|reminded|needs?|directed)\b"
    r"|用户(?:明确|多次|又|还|也|随后|已经?)?"
    r"(?:说|要求|希望|想要?|表示|认为|强调|提到|确认|同意|拒绝|指出|反馈|需要|决定|偏好|禁止)"
)

_SENTENCE_END = re.compile(r"[.!?](?=[\s\"”')\]]|$)|[。！？；\n]|;(?=\s)")

_OPENING = re.compile(r"[\s:,：，]{0,3}([\"“「『])")

_CLOSING = {'"': '"', "“": "”", "「": "」", "『": "』"}

_COUNTED = re.compile(
    r"\s?(?:(?:times?|more|others?|messages?|rounds?|exchanges?|steps?|items?|of \d|entries|calls?|turns?)\b"
    r"|[个条项次])"
)

_UNIT = re.compile(r"\s?(?:%|ms\b|µs\b|s\b|[KMGT]i?B\b|px\b|k\b)")

_COMMAND = re.compile(r"(?:\$ )?((?:[A-Z_]+=\S+ )*(?:\./)?[a-z][\w.+-]* (.+))")

_OPERATOR = re.compile(r"[-=<>|*+/&%:?!]{1,3}(?: |$)")

_CODE_NAME = re.compile(r"^[@$#.]?[A-Za-z_][\w.:$-]*(?:\(\))?$")

SMALLEST_NUMBER = 13
"""Smallest whole number without a unit that is checked; smaller ones are mostly counts made by the summary itself."""

LONGEST_ATTRIBUTION = 400
"""Longest attribution in characters, because a summary may have no full stops."""

_PRODUCTS = (
    "github gitlab javascript typescript youtube chatgpt openai postgresql mysql sqlite mongodb macos powershell "
    "nodejs latex websocket websockets devops numpy pytorch fastapi graphql vscode intellij ios graphviz dockerfile "
    "makefile restful toolkit backend frontend todos readme stackoverflow linkedin deepmind huggingface langchain"
)

_WELL_KNOWN = frozenset(_PRODUCTS.split())
"""Names of general knowledge, which are not checked."""


def claims_in(summary: str) -> list[Claim]:
    """Return every claim of `summary` by position. Of overlapping claims the longer counts, except for attributions."""
    fenced = [(fence.start, fence.stop) for fence in fences(summary)]
    claimed = _ClaimedSpans(len(summary))
    found: list[Claim] = []

    def take(claims: Iterator[Claim]) -> None:
        found.extend(claim for claim in claims if claimed.add_if_free(claim.start, claim.stop))

    claimed.add_all((match.start(), match.end()) for match in _URL.finditer(summary))
    take(_quotations(summary, fenced))
    take(_code(summary, fenced))
    take(_paths(summary))
    take(_identifiers(summary))
    take(_numbers(summary, fenced))
    found.extend(_attributions(summary, fenced))
    return sorted(found, key=lambda claim: (claim.start, claim.stop))


class _ClaimedSpans:
    """Characters that already belong to a claim."""

    def __init__(self, size: int) -> None:
        self._marks = bytearray(size)

    def add_if_free(self, start: int, stop: int) -> bool:
        """Mark a span and return True if no part of it was marked."""
        if any(self._marks[start:stop]):
            return False
        self._marks[start:stop] = b"\x01" * (stop - start)
        return True

    def add_all(self, spans: Iterator[tuple[int, int]]) -> None:
        for start, stop in spans:
            self._marks[start:stop] = b"\x01" * (stop - start)


def _is_inside(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < stop for start, stop in spans)


def _quotations(summary: str, fenced: list[tuple[int, int]]) -> Iterator[Claim]:
    """Yield quotations of at least three words; shorter ones are often not literal."""
    code = fenced + [(match.start(), match.end()) for match in _CODE.finditer(summary)]
    for match in _QUOTED.finditer(summary):
        if _is_inside(match.start(), code) or _is_inside(match.end() - 1, code):
            continue
        group = next(number for number, text in enumerate(match.groups(), 1) if text is not None)
        quotation = match[group]
        if len(quotation.split()) >= 3 or (not quotation.isascii() and len(quotation) >= 6):
            yield Claim("quotation", quotation, match.start(group), match.end(group))


def _code(summary: str, fenced: list[tuple[int, int]]) -> Iterator[Claim]:
    """Yield paths, commands and names in backticks."""
    for match in _CODE.finditer(summary):
        code = match[1].strip()
        if _is_inside(match.start(), fenced) or not any(map(str.isalnum, code)):
            continue
        command = _COMMAND.fullmatch(code)
        if _PATH.fullmatch(code) and _is_path(code):
            yield Claim("path", code, match.start(1), match.end(1))
        elif command and not _OPERATOR.match(command[2]):
            yield Claim("command", command[1], match.start(1), match.end(1))
        elif _CODE_NAME.match(code) and len(code) > 2 and code.lower() not in _WELL_KNOWN:
            yield Claim("identifier", code.removesuffix("()"), match.start(1), match.end(1))


def _paths(summary: str) -> Iterator[Claim]:
    for match in _PATH.finditer(summary):
        if _is_path(match[0]):
            cut = "…" if summary.startswith("…", match.end()) else ""
            yield Claim("path", match[0] + cut, match.start(), match.end())


def _is_path(text: str) -> bool:
    """True if a text with slashes is a path, unlike "and/or": it has an extension, a root, or two folders."""
    parts = [part for part in re.split(r"[\\/]", text) if part]
    if not parts or not any(map(str.isalpha, text)):
        return False
    if _HAS_EXTENSION.search(text):
        return True
    rooted = text[0] in "/~.\\" or text[1:2] == ":"
    return len(parts) >= 2 and (rooted or text[-1] in "/\\" or (len(parts) >= 3 and "_" in text))


def _identifiers(summary: str) -> Iterator[Claim]:
    for pattern in (IDS, NAMES):
        for match in pattern.finditer(summary):
            if match[0].lower() not in _WELL_KNOWN:
                yield Claim("identifier", match[0], match.start(), match.end())


def _numbers(summary: str, fenced: list[tuple[int, int]]) -> Iterator[Claim]:
    """Yield numbers that state facts: large ones, and those with a unit, a fraction or a version. List marks and small
    counts are left out."""
    for match in _NUMBER.finditer(summary):
        number, after = match[0], summary[match.end() : match.end() + 12]
        line_start = summary.rfind("\n", 0, match.start()) + 1
        leading = summary[line_start : match.start()].strip(" \t#*_-•[(") == ""
        if _is_inside(match.start(), fenced) or (leading and after[:1] in (".", ")", "]", "、", ":")):
            continue
        if after[:1] and (after[0] in "-/:_×" or after[0].isalpha()) and not _UNIT.match(after):
            continue
        whole = number.isdigit() and not _UNIT.match(after)
        if _COUNTED.match(after) or (whole and int(number[:9]) < SMALLEST_NUMBER):
            continue
        yield Claim("number", number, match.start(), match.end())


def _attributions(summary: str, fenced: list[tuple[int, int]]) -> Iterator[Claim]:
    """Yield "the user said/asked/wants …" up to the end of the sentence; `subject` is the attributed statement."""
    for match in _ATTRIBUTED.finditer(summary):
        line_start = summary.rfind("\n", 0, match.start()) + 1
        if _is_inside(match.start(), fenced) or summary.startswith("#", line_start):
            continue
        longest = min(len(summary), match.end() + LONGEST_ATTRIBUTION)
        end = _SENTENCE_END.search(summary, match.end(), longest)
        stop = end.start() if end else longest
        quoted = _OPENING.match(summary, match.end())
        close = summary.find(_CLOSING[quoted[1]], quoted.end(), longest) if quoted else -1
        # Text after a quotation is the summary's own comment.
        subject = summary[quoted.end() : close] if quoted and close > 0 else summary[match.end() : stop]
        subject = subject.strip(" ,:：")
        if subject:
            yield Claim("attribution", subject, match.start(), stop)
