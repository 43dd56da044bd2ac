"""A summary that a person wrote: in an editor or in a file."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.reading import read_text
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.summarizers.summarizer import Answerer


def typed(text: str) -> Answerer:
    """Answers every request with `text`, without white space around it."""

    def answer(request: SummaryRequest) -> Answer:
        words = text.strip()
        return Summary(words, model="typed") if words else SummaryFailed("empty", "the typed summary has no text")

    return answer


def typed_from(path: Path) -> Answerer:
    """Answers with the text of a UTF-8 file, read now. Raises BadInput when it cannot be read or holds no text."""
    try:
        text = read_text(path, "utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; write the summary into it first or name another file.") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder; name the file with the summary.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text at byte {error.start}; save the summary as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is not usable"
        raise BadInput(f"{path} cannot be read ({reason}); choose a file that you may read.") from None
    if not text.strip():
        raise BadInput(f"{path} is empty; write the summary into it first.")
    return typed(text)
