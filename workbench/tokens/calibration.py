"""Convert o200k counts to the counts that a model's own tokenizer bills (docs/tokens.md, Calibration).

Each family's coefficients were fitted on recorded sessions. In a session that records usage, one scale corrects them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from msgspec import Struct

from workbench.session import Role
from workbench.tokens.counting import Weight
from workbench.tokens.models import plain_name


class Family(Struct, frozen=True):
    """Models that share a tokenizer, as factors on a message's o200k count.

    `assistant`: factor for text that the model wrote. `other`: factor for all other text. `signature`: tokens per
    character of a thinking signature. `pair`: tokens of a tool call and its result in addition to their text, half for
    each. `message`: tokens of each message in addition. `known`: false for unknown models, whose figures stay
    estimates. `output_stays`: the message costs its billed output again as context (OpenAI's reasoning tokens do not).
    """

    id: str
    other: float = 1.0
    assistant: float = 1.0
    signature: float = 0.0
    pair: float = 0.0
    message: float = 0.0
    known: bool = True
    output_stays: bool = False

    def tokens(self, role: Role, weight: Weight) -> float:
        factor = self.assistant if role == "assistant" else self.other
        structure = self.pair * (weight.calls + weight.results) / 2 + self.message
        return factor * weight.text + self.signature * weight.signature + structure + weight.media


CLAUDE = Family("claude ≤ 4.6", other=1.10, assistant=1.18, pair=84, output_stays=True)
CLAUDE_NEWER = Family("claude ≥ 4.7", other=1.44, assistant=1.17, signature=0.280, pair=106, output_stays=True)
OPENAI = Family("openai", message=4)
UNKNOWN = Family("unknown model", known=False)

_CLAUDE_NAME = re.compile(
    r"claude-(?P<tier>opus|sonnet|haiku|fable|mythos)-(?P<major>\d)(?:[.-](?P<minor>\d{1,2}))?(?!\d)"
)
_O200K_NAME = re.compile(r"(chatgpt-4o|gpt-4o|gpt-4[.-]1|gpt-4[.-]5|gpt-[5-9]|gpt-oss|o[1-9]|codex)(?![a-z0-9])")


@lru_cache(maxsize=1_024)
def family_of(model: str | None) -> Family:
    """Family of a model by its name, with any provider's prefix or date.

    The newer Claude tokenizer applies to Opus from 4.7, to Mythos without a version, and to other Claude models from
    version 5.
    """
    name = plain_name(model or "")
    if found := _CLAUDE_NAME.match(name):
        version = (int(found["major"]), int(found["minor"] or 0))
        newer = version >= (5, 0) or (found["tier"] == "opus" and version >= (4, 7))
        return CLAUDE_NEWER if newer else CLAUDE
    if name.startswith("claude-mythos"):
        return CLAUDE_NEWER
    if name.startswith("claude"):
        return CLAUDE
    return OPENAI if _O200K_NAME.match(name) else UNKNOWN


@dataclass(frozen=True, slots=True)
class Scale:
    """Factor of one session on its family's figures, learnt from `calls` recorded calls, or from an exact count that
    `source` names."""

    value: float = 1.0
    calls: int = 0
    source: str = ""


PRIOR_CALLS = 10
"""Weight of the family's own figures, in recorded calls, so that a few calls change them little."""


def calibrate(deltas: Sequence[tuple[int, float]]) -> Scale:
    """Scale from (tokens billed, tokens predicted) between calls.

    It is the median ratio, so that a single injected text has little effect, limited to 0.5..2; its distance from 1 is
    multiplied by n/(n+10).
    """
    ratios = sorted(billed / predicted for billed, predicted in deltas if billed > 0 and predicted > 0)
    n = len(ratios)
    if not n:
        return Scale()
    middle = min(2.0, max(0.5, (ratios[(n - 1) // 2] + ratios[n // 2]) / 2))
    return Scale(1 + (middle - 1) * n / (n + PRIOR_CALLS), n)
