"""Settings shared by policies that ask a model for a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

from pydantic import model_validator

from workbench.compaction import vocabulary
from workbench.compaction.excerpt import Style
from workbench.compaction.head import Head
from workbench.compaction.language import NAMES, Language, language_of, version_of
from workbench.compaction.policy import Policy
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.request import ConversationStyle
from workbench.compaction.summary_request import RequestSettings, RequestShape
from workbench.compaction.vocabulary import EarlierSummary

BuiltinText = Callable[[Language], str]
"""Function that returns the built-in text in a language."""


def builtin_text(id: str) -> BuiltinText:
    """Prompt with one file per language."""
    return lambda language: load_prompt(f"{id}.{language}.md").text


class TextPolicy(Policy):
    """Policy with texts for a model, all in the policy's language.

    If a prompt is set but no language, the language is that of the prompt.
    """

    builtin_texts: ClassVar[Mapping[str, BuiltinText]] = {}
    """Built-in text of each field, prompts first. It is sent in place of a text in the other language."""

    language: Language = vocabulary.language("en")

    def sent_text(self, field: str) -> str:
        """Text of a field as it is sent: the policy's own, or the built-in text in the policy's language if the own
        text is clearly in the other language."""
        text: str = getattr(self, field)
        if language_of(text) in (None, self.language):
            return text
        return version_of(text, self.language) or self.builtin_texts[field](self.language)

    def unsent_texts(self) -> Iterator[str]:
        """Sentence for each of the user's own texts that is not sent because of its language."""
        for field, own in self.builtin_texts.items():
            text: str = getattr(self, field)
            found = language_of(text)
            if found in (None, self.language) or text.strip() == own(found).strip():
                continue
            if version_of(text, self.language) is None:
                yield (
                    f"{field} is in {NAMES[found]}, but language is {self.language}: the built-in "
                    f"{NAMES[self.language]} text is sent. Write it in {NAMES[self.language]}, or set language to "
                    f"{found}."
                )

    def with_(self, **changes: Any) -> Self:
        """Validated copy with fields changed; a changed prompt may change the language."""
        if "language" not in changes and (found := _language_of(changes, type(self))):
            changes["language"] = found
        return super().with_(**changes)

    @model_validator(mode="before")
    @classmethod
    def _language_from_prompt(cls, values: Any) -> Any:
        if isinstance(values, dict) and "language" not in values and (found := _language_of(values, cls)):
            return {**values, "language": found}
        return values


def _language_of(values: Mapping[str, Any], policy: type[TextPolicy]) -> Language | None:
    """Language of the first prompt among these values."""
    named = {policy.today(name).name: value for name, value in values.items()}
    prompts = (
        named[field] for field in policy.builtin_texts if "prompt" in field and isinstance(named.get(field), str)
    )
    return next(filter(None, map(language_of, prompts)), None)


class SummaryPolicy(TextPolicy):
    """Settings of every strategy that asks a model for a summary of messages."""

    summary_char_limit: int = vocabulary.summary_char_limit(0)
    request_char_limit: int = vocabulary.request_char_limit(1_000_000)
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("nest")

    @property
    def request(self) -> RequestSettings:
        """Settings of the request to a summarizer."""
        return RequestSettings(language=self.language, max_chars=self.summary_char_limit)


class RequestShapePolicy(SummaryPolicy):
    """Settings for summarizing a conversation from its beginning up to some message. This part can be sent as one
    text or as messages."""

    request_shape: RequestShape = vocabulary.request_shape("text")

    def sent(self, head: Head, style: Style) -> Style | ConversationStyle:
        """Style in which a head is sent: as one text in `style`, or as messages."""
        if self.request_shape == "text":
            return style
        return ConversationStyle(
            self.request_shape, head.stop, frozenset(head.dropped_summaries), self.request_char_limit
        )


class PromptPolicy(SummaryPolicy):
    """Settings for summarizing with one prompt, which is built in for each language."""

    prompt: str = vocabulary.prompt()

    def asks(self, **values: str) -> str:
        """Prompt in use, with `values` for its placeholders."""
        return fill(self.sent_text("prompt").strip() or self.builtin_texts["prompt"](self.language), values)
