"""What the policies share that ask a model for a summary."""

from __future__ import annotations

from typing import ClassVar

from workbench.compaction import vocabulary
from workbench.compaction.policy import Policy
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.strategy import RequestSettings
from workbench.compaction.vocabulary import EarlierSummary, Language


class Summarizing(Policy):
    """What every strategy has that asks a model for a summary of messages."""

    language: Language = vocabulary.language("en")
    summary_char_limit: int = vocabulary.summary_char_limit(0)
    request_char_limit: int = vocabulary.request_char_limit(1_000_000)
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("nest")

    @property
    def request(self) -> RequestSettings:
        """What these settings ask of a summarizer."""
        return RequestSettings(language=self.language, max_chars=self.summary_char_limit)


class Prompted(Summarizing):
    """Summarizing by one prompt, which is shipped in each language."""

    shipped: ClassVar[str]
    """The shipped prompt's file, with `{language}` in its name."""

    prompt: str = vocabulary.prompt()

    def asks(self, **values: str) -> str:
        """The prompt in use, with `values` in the place of its placeholders."""
        return fill(self.prompt.strip() or load_prompt(self.shipped.format(language=self.language)).text, values)
