"""One section of a draft written anew: the same request, with the draft and a person's instruction after it."""

from __future__ import annotations

from dataclasses import replace

from workbench.compaction.conversation import MessagesBody, RequestBody, TextBody
from workbench.compaction.prompts import fill, load_prompt
from workbench.compaction.summary_request import SummaryRequest
from workbench.compaction.text import without_summary_tags
from workbench.summarizers.sections import Section, bare, sections_of, with_words

WHOLE = "(the whole draft)"
"""The title of a draft without sections."""


def regeneration(request: SummaryRequest, draft: str, section: Section, instruction: str) -> SummaryRequest:
    """The request for a section's new words. Its text begins with the request's own, so that it shrinks by the same
    rule. Raises BadInput for a prompt of the user's that cannot be filled."""
    language = "zh" if request.language.startswith("zh") else "en"
    title = section.title or WHOLE
    values = {"title": title, "instruction": instruction.strip(), "draft": draft.strip()}
    asked = fill(load_prompt(f"regenerate-section.{language}.md").text, values)
    return replace(
        request,
        purpose=f"section “{title}” again",
        body=_with_more(request.body, asked),
        form="sections" if section.title else request.form,
        sections=(section.title,) if section.title else request.sections,
    )


def _with_more(body: RequestBody, asked: str) -> RequestBody:
    if isinstance(body, MessagesBody):
        return replace(body, last=f"{body.last}\n\n{asked}")
    return TextBody(lambda: f"{body.text}\n\n{asked}")


def regenerated(draft: str, section: Section, answer: str) -> str:
    """The draft with the section's new words, whether or not the answer repeats the title or the other sections."""
    text = without_summary_tags(answer)
    if section.title:
        own = next((s for s in sections_of(text, (section.title,)) if bare(s.title) == bare(section.title)), None)
        text = text[own.body : own.end] if own else text
    return with_words(draft, section, text)
