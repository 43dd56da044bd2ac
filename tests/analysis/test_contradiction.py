"""Sentences with the words of a fact that distort it, and paraphrases that do not."""

from __future__ import annotations

import pytest

from workbench.analysis.fact_check import SearchedText, fact_query


def is_right(fact: str, text: str) -> bool:
    query = fact_query("instruction", fact)
    assert query is not None
    return SearchedText([text]).judge(query).right


@pytest.mark.parametrize(
    ("fact", "text", "right"),
    [
        ("Only the changed files are committed.", "The changed files are committed.", False),
        ("Use only the standard library.", "Nothing outside the standard library may be used.", True),
        ("Use only the standard library.", "Use the standard library and requests.", False),
        ("Don't deploy on Fridays unless it is a hotfix.", "On Fridays only hotfixes are deployed.", True),
        ("Don't deploy on Fridays unless it is a hotfix.", "No deploys on Fridays except for hotfixes.", True),
        ("Don't deploy on Fridays unless it is a hotfix.", "Deploy on Fridays.", False),
        ("Don't deploy on Fridays unless it is a hotfix.", "Never deploy on Fridays, not even a hotfix.", False),
        ("Lint everything except the migrations folder.", "Lint all but the migrations folder.", True),
        ("Lint everything except the migrations folder.", "Lint only the migrations folder.", False),
        ("Lint everything except the migrations folder.", "Lint everything, the migrations folder too.", False),
        ("Send a mail for each failed job.", "Send a mail for each failed job except nightly ones.", False),
        ("Send a mail for each failed job.", "A mail is sent only for failed jobs, one for each.", True),
        ("Send a mail for each failed job.", "Send a mail only for the last failed job.", False),
        ("Don't open a pull request until the tests pass.", "Pull requests are opened after the tests pass.", True),
        ("Don't open a pull request until the tests pass.", "Open a pull request before the tests pass.", False),
        ("Fix the error summary.", "The error summary is fixed in errors-only mode.", True),
        ("Alle Dateien außer den Tests formatieren.", "Formatiert werden alle Dateien, ausgenommen die Tests.", True),
        ("Alle Dateien außer den Tests formatieren.", "Alle Dateien formatieren.", False),
        ("Antworte auf Deutsch, außer in Commit-Nachrichten.", "Auf Deutsch antworten.", True),  # in part,
    ],
)
def test_exceptions_and_limits(fact: str, text: str, right: bool) -> None:
    assert is_right(fact, text) is right


@pytest.mark.parametrize(
    ("fact", "text", "right"),
    [
        ("Read the schema, but never alter it.", "The schema may be read, not altered.", True),
        ("Read the schema, but never alter it.", "Never read the schema, alter it.", False),
        ("Don't guess file names; look them up.", "File names are to be looked up, not guessed.", True),
        ("Don't rewrite the tests, extend them.", "The tests are to be extended, not rewritten.", True),
        (
            "Never delete the archive; compress the logs.",
            "Compress the archive; never delete the logs.",
            False,
        ),
        (
            "Write unit tests, update the docs, bump the version, and never push the tag.",
            "Write unit tests, update the docs, bump the version, and push the tag.",
            False,
        ),
        (
            "Sort imports alphabetically so that merges have fewer conflicts.",
            "Imports are not sorted alphabetically.",
            False,
        ),
        (
            "Always run the linter before the big formatter, because imports move.",
            "Always run the linter after the big formatter.",
            False,
        ),
        (
            "Always run the linter before the big formatter, because imports move.",
            "Always run the linter before the big formatter.",
            True,
        ),
    ],
)
def test_each_verb_keeps_its_sign(fact: str, text: str, right: bool) -> None:
    assert is_right(fact, text) is right


@pytest.mark.parametrize(
    ("fact", "text", "right"),
    [
        ("The client sends the token to the server.", "The server sends the token to the client.", False),
        ("The client sends the token to the server.", "The token is sent to the server by the client.", True),
        ("The scheduler starts the worker.", "The worker starts the scheduler.", False),
        ("The scheduler starts the worker.", "The worker is started by the scheduler.", True),
        ("Use red for errors and yellow for warnings.", "Use yellow for errors and red for warnings.", False),
        ("Use red for errors and yellow for warnings.", "Errors are red, warnings are yellow.", True),
        ("No tabs, no trailing spaces.", "No trailing spaces, no tabs.", True),
        (
            "We chose ropes over wires for the mast since the bow has no winch.",
            "Mast: wires were chosen over ropes because the bow has no winch.",
            False,
        ),
        ("On Mondays send the report to Ana.", "Send the report to Ana on Mondays.", True),
        ("The owner of the boat is Nora.", "Nora is the owner of the boat.", True),
    ],
)
def test_exchanged_words(fact: str, text: str, right: bool) -> None:
    assert is_right(fact, text) is right


@pytest.mark.parametrize(
    ("fact", "text", "right"),
    [
        ("Deploy to the eu-west-1 region.", "Deploy to the us-east-1 region.", False),
        ("The queue is called billing-events.", "The queue is called billing-jobs.", False),
        ("Pin numpy to 1.26.4.", "Pin numpy to 1.25.0.", False),
        ("Pin numpy to 1.26.4.", "numpy is pinned to 1.26.4.", True),
        ("Pin numpy to 1.26.4 everywhere.", "numpy should be pinned to 1.25.0 everywhere.", False),
        ("Put the code into src/parsers/json.py.", "The code should be put into src/parsers/yaml.py.", False),
        ("Deploy the site to the eu-west-1 region.", "The site has to be deployed to the us-east-1 region.", False),
        ("The queue is called billing-events.", "We call the queue billing-jobs.", False),
        ("Draw captions in Danish.", "Paint captions in Danish.", True),
        ("The hull was painted in Ulm by two crews.", "Bonn is where two crews painted the hull.", False),
        (
            "Nora is collecting the sails from the harbour office on Friday morning.",
            "Sails: Kim collects them from the harbour office on Friday morning.",
            False,
        ),
        ("The screws go to the third drawer.", "The screws go to the fourth drawer of the bench.", False),
        ("Put the code into src/parsers/json.py.", "Put the code into src/parsers/yaml.py.", False),
        ("Open the log with the left mouse button.", "Open the log with the right mouse button.", False),
        ("Install the plugin with pipx.", "Install the plugin with conda.", False),
        ("Install the plugin with pipx.", "The plugin is installed with pipx.", True),
        ("A full build needs seventy-five minutes.", "A full build needs 75 min.", True),
        ("Retry after fifteen minutes.", "Retry after 900 s.", True),
        ("The tests need 4 GB of memory.", "The tests need 4096 MB of memory.", True),
        ("The tests need 4 GB of memory.", "The tests need 8192 MB of memory.", False),
    ],
)
def test_names_and_words_put_in_place_of_others(fact: str, text: str, right: bool) -> None:
    assert is_right(fact, text) is right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('"Use a modal for the form." was dropped later.', False),
        ('"Use a modal for the form." was the plan at first; it was abandoned after a review.', False),
        ('The user withdrew the request "Use a modal for the form."', False),
        ("Old, no longer valid: Use a modal for the form.", False),
        ('Not wanted: "Use a modal for the form."', False),
        ("Rejected: a modal for the form is used.", False),
        ("The linter rejected the first version. Use a modal for the form.", True),
        ('The user insisted: "Use a modal for the form."', True),
        ('The user said: "Use a modal for the form." (rejected empty string, accepted a path)', True),
        ("Rejected: the side panel. Use a modal for the form.", True),
    ],
)
def test_rejected_statements(text: str, right: bool) -> None:
    assert is_right("Use a modal for the form.", text) is right


@pytest.mark.parametrize("said", ["translate all pages except pricing", "translate all pages, but only in the app"])
def test_a_quotation_with_a_limit_behind_it(said: str) -> None:
    assert is_right("translate all pages", "The user said: translate all pages")
    assert not is_right("translate all pages", f"The user said: {said}")


@pytest.mark.parametrize(
    ("fact", "text", "stated"),
    [
        ("Document every public method.", "Every public method has a document number.", False),
        ("Document every public method.", "Every public method must be documented.", True),
        ("Test the export button.", "The export button has a test id.", False),
        ("Use the existing helper for path joins.", "A helper for path joins exists.", False),
        ("Report progress after each phase.", "Each phase has a progress bar in the report.", False),
    ],
)
def test_a_description_gives_no_command(fact: str, text: str, stated: bool) -> None:
    assert is_right(fact, text) is stated


def test_a_quotation_is_found_in_a_heap_of_words() -> None:
    heap = 'prices customers taxes invoices reminders vouchers refunds carts "{}" shipping returns stock labels orders'
    assert is_right("Show net prices", heap.format("Show net prices"))
    assert not is_right("Show net prices", heap.format("Hide net labels"))


def test_amounts_in_other_words_and_units() -> None:
    fact = fact_query("stated", "The backup takes a quarter of an hour.")
    lines = fact_query("number", "200 lines", "Functions have 200 lines at most.")
    assert fact is not None
    assert lines is not None
    assert not SearchedText(["The backup takes 45 minutes."]).judge(fact).right
    assert SearchedText(["Functions have two hundred lines at most."]).judge(lines).right
    assert not SearchedText(["Functions have three hundred lines at most."]).judge(lines).right
