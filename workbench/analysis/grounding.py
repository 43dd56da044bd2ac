"""Grounding of summaries without a model: each claim is looked up in the head that the summary replaces.

Paths, commands, identifiers, numbers and quotations must occur in the head; "the user said, asked, wants …" must match
the user's own words. A claim that is not found may still be true (a sum, a paraphrase), so it is shown and not judged.
For lost facts see `workbench.analysis.retention`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from workbench.analysis.head_index import HeadIndex, stems
from workbench.analysis.summary_claims import Claim, ClaimKind, claims_in
from workbench.base.figures import whole_number
from workbench.base.secrets import without_secrets
from workbench.compaction.outcome import NewMessage, Outcome
from workbench.compaction.summary_request import Summary
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
    unfounded: tuple[UnsupportedClaim, ...]

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
        said = (prose(m.text if m.kind == "summary" else m.said) for m in head)
        self._user_words = [words for text in said if (words := stems(text))]
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
        if any(len(words & said) >= ENOUGH_WORDS * len(words) for said in self._user_words):
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
    return Grounding(dict(checked), tuple(missing for one in found for missing in one.unfounded))


def _is_in_outcome(text: str, outcome: Outcome) -> bool:
    words = text.strip()
    return any(words[:400] in piece.message.text for piece in outcome.pieces if isinstance(piece, NewMessage)) or words[
        :400
    ] in (outcome.memories or "")
