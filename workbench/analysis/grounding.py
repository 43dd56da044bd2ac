"""Is what a summary says so? Without a model: everything it names is looked up in the head it stands for.

Paths, commands, identifiers, numbers and quotations must stand in the head; what "the user said, asked, wants …" must
be in the user's own words. What is not found may still be true (a sum, a paraphrase): it is shown, not judged. What is
lost is another question, which only the whole outcome answers (`workbench.analysis.retention`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from workbench.analysis.claims import Claim, ClaimKind, claims_in
from workbench.analysis.head_index import HeadIndex, stems
from workbench.base.figures import whole_number
from workbench.base.secrets import without_secrets
from workbench.facts.wording import prose
from workbench.session import Message, Text

SAID = 0.5
"""The share of an attribution's words that one message of the user must have; or `SAID_IN_ALL` of all of them."""

SAID_IN_ALL = 0.8

_INSERTED = re.compile(r"\[[^\[\]]{0,120}\]")
"""An editor's insertion in a quotation, "[log output]": it stands for what was left out."""


class Unfounded(Struct, frozen=True):
    """`summary[start:stop]` is not found in the head: to be underlined. `text` is what was looked up."""

    kind: ClaimKind
    text: str
    start: int
    stop: int


class Grounding(Struct, frozen=True):
    """What was checked, by kind, and what of it was not found, by place."""

    checked: dict[ClaimKind, int]
    unfounded: tuple[Unfounded, ...]

    @property
    def claims(self) -> int:
        return sum(self.checked.values())


class Ground:
    """A head made ready for checking summaries against it. Building reads the whole head; checking is for every edit.

    Pure: neither the messages nor anything else is changed. Safe to build in one thread and to use in another.
    """

    def __init__(self, head: Sequence[Message], earlier: str = "") -> None:
        """The messages without their secrets. `earlier` is a summary that the summarizer was given beside the head: it
        is in the context, too."""
        if earlier:
            head = [*head, Message("earlier", "user", (Text(without_secrets(earlier)),), "summary")]
        self._index = HeadIndex(head)
        said = (prose(m.text if m.kind == "summary" else m.said) for m in head)
        self._said = [words for text in said if (words := stems(text))]
        self._all_said = frozenset[str]().union(*self._said)

    def check(self, summary: str) -> Grounding:
        """What a summary claims, as it stands there; what holds a secret is no claim."""
        clean = without_secrets(summary)
        claims = [claim for claim in claims_in(summary) if summary[claim.start : claim.stop] in clean]
        missing = tuple(
            Unfounded(claim.kind, claim.subject, claim.start, claim.stop) for claim in claims if not self._holds(claim)
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
                return self._was_said(claim.subject)
            case "command":
                return self._index.has(claim.subject) or self._index.says(claim.subject)
        return self._index.has(claim.subject)

    def _has_path(self, path: str) -> bool:
        """As it stands; or joined, by a summary, from a folder that stands there and a path within it."""
        if self._index.has_path(path):
            return True
        rooted = path[:1] in "/~" or path[1:2] == ":"
        parts = path.replace("\\", "/").split("/")
        return rooted and any(
            self._index.has_path("/".join(parts[:cut])) and self._index.has_path("/".join(parts[cut:]))
            for cut in range(3, len(parts))
        )

    def _was_said(self, subject: str) -> bool:
        words = stems(subject)
        if len(words) < 2:
            return True
        if any(len(words & said) >= SAID * len(words) for said in self._said):
            return True
        return len(words & self._all_said) >= SAID_IN_ALL * len(words)


def _spellings(number: str) -> list[str]:
    """A number as the head may write it: with or without separators of thousands."""
    plain = number.replace(",", "").replace("_", "").replace("\u202f", "")
    whole, dot, fraction = plain.partition(".")
    spellings = [number, plain]
    if (count := whole_number(whole)) is not None and len(whole) > 3:
        spellings += [f"{count:,}".replace(",", separator) + dot + fraction for separator in (",", "_", " ")]
    return list(dict.fromkeys(spellings))
