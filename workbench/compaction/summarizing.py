"""What the policies share that ask a model for a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

from pydantic import model_validator

from workbench.compaction import vocabulary
from workbench.compaction.conversation import RequestShape
from workbench.compaction.keeping import Head
from workbench.compaction.language import NAMES, Language, language_of, version_of
from workbench.compaction.policy import Policy
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.request import ConversationStyle, Style
from workbench.compaction.summary_request import RequestSettings
from workbench.compaction.vocabulary import EarlierSummary

BuiltinText = Callable[[Language], str]
"""The workbench's own text in a language."""


def builtin_text(id: str) -> BuiltinText:
    """A prompt of which there is a file for each language."""
    return lambda language: load_prompt(f"{id}.{language}.md").text


class TextPolicy(Policy):
    """A policy with texts for a model, all of them in the language that it asks for.

    Where only a prompt is given, and that is in the other language, the language is the prompt's."""

    builtin_texts: ClassVar[Mapping[str, BuiltinText]] = {}
    """The fields that hold such texts, prompts first, with what stands for one that is in the other language."""

    language: Language = vocabulary.language("en")

    def sent_text(self, field: str) -> str:
        """A field's text as it is sent: the policy's own; where that is clearly in the other language, the shipped
        prompt's version in this one if it is a shipped prompt, else the shipped text of the field."""
        text: str = getattr(self, field)
        if language_of(text) in (None, self.language):
            return text
        return version_of(text, self.language) or self.builtin_texts[field](self.language)

    def unsent_texts(self) -> Iterator[str]:
        """A sentence on each text of a person's own that is not sent for its language."""
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
        if "language" not in changes and (found := _language_of(changes, type(self))):
            changes["language"] = found
        return super().with_(**changes)

    @model_validator(mode="before")
    @classmethod
    def _as_the_prompt_is(cls, given: Any) -> Any:
        if isinstance(given, dict) and "language" not in given and (found := _language_of(given, cls)):
            return {**given, "language": found}
        return given


def _language_of(given: Mapping[str, Any], policy: type[TextPolicy]) -> Language | None:
    """The language of the first prompt among these values."""
    named = {policy.today(name).name: value for name, value in given.items()}
    prompts = (
        named[field] for field in policy.builtin_texts if "prompt" in field and isinstance(named.get(field), str)
    )
    return next(filter(None, map(language_of, prompts)), None)


class SummaryPolicy(TextPolicy):
    """What every strategy has that asks a model for a summary of messages."""

    summary_char_limit: int = vocabulary.summary_char_limit(0)
    request_char_limit: int = vocabulary.request_char_limit(1_000_000)
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("nest")

    @property
    def request(self) -> RequestSettings:
        """What these settings ask of a summarizer."""
        return RequestSettings(language=self.language, max_chars=self.summary_char_limit)


class RequestShapePolicy(SummaryPolicy):
    """Summarizing what a conversation holds up to a place, so that it can be sent as it is, too."""

    request_shape: RequestShape = vocabulary.request_shape("text")

    def sent(self, head: Head, style: Style) -> Style | ConversationStyle:
        """How a head is sent: as one text in `style`, or as the messages that they are."""
        if self.request_shape == "text":
            return style
        return ConversationStyle(
            self.request_shape, head.stop, frozenset(head.dropped_summaries), self.request_char_limit
        )


class PromptPolicy(SummaryPolicy):
    """Summarizing by one prompt, which is shipped in each language."""

    prompt: str = vocabulary.prompt()

    def asks(self, **values: str) -> str:
        """The prompt in use, with `values` in the place of its placeholders."""
        return fill(self.sent_text("prompt").strip() or self.builtin_texts["prompt"](self.language), values)
