"""One wording for one meaning: numbers, and negated exceptions."""

from __future__ import annotations

import pytest

from workbench.analysis.plain_form import plain_form


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("under two hundred lines", "under 200 lines"),
        ("fifteen hundred rows", "1500 rows"),
        ("forty-eight hours", "48 hours"),
        ("One hundred and twenty columns", "120 columns"),
        ("three hundred thousand and five", "300005"),
        ("a dozen workers", "12 workers"),
        ("half an hour", "30 min"),
        ("a quarter of an hour", "15 min"),
        ("zwanzig Zeilen, eine halbe Stunde", "20 Zeilen, 30 min"),
        ("cincuenta hilos", "50 hilos"),
        ("one two three", "one two three"),
        ("two of them", "two of them"),
        ("five twenty", "five twenty"),
        ("hundreds of files", "hundreds of files"),
    ],
)
def test_numbers_over_twelve_are_digits(text: str, plain: str) -> None:
    assert plain_form(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Nobody but the owner may tag.", "only the owner may tag."),
        ("Nothing outside src may change.", "only src may change."),
        ("Do not deploy unless I ask.", "deploy only if I ask."),
        ("Don't deploy until the tests pass.", "deploy only after the tests pass."),
        ("No code is written before the plan.", "code is written only after the plan."),
        ("No deploys on Fridays except for hotfixes.", "deploys on Fridays only hotfixes."),
        ("Ring after the call, not before.", "Ring after the call, not before."),
        ("Don't forget to test before a release.", "Don't forget to test before a release."),
        ("All files except the tests.", "All files except the tests."),
        ("It is not done. Ask before you go.", "It is not done. Ask before you go."),
    ],
)
def test_a_negated_exception_is_an_only(text: str, plain: str) -> None:
    assert plain_form(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The counter starts at zero.", "The counter starts at 0h00."),
        ("Tea at half past four.", "Tea at 4h30."),
        ("The gate shuts at 11:05.", "The gate shuts at 11h05."),
        ("Ring at nine in the evening.", "Ring at 21h00."),
        ("A row of 3:15 and 4:60.", "A row of 3h15 and 4:60."),
        ("Due by the ninth of June.", "Due by 9 june."),
        ("Due June 9th, or Sept 30.", "Due 9 june, or 30 september."),
        ("Version 4.12. is out.", "Version 4.12. is out."),
        ("At most 60 calls/min in v7.", "At most 60 calls per minute in version 7."),
        ("It may rain in May.", "It may rain in May."),
    ],
)
def test_times_dates_and_frequencies_have_one_form(text: str, plain: str) -> None:
    assert plain_form(text) == plain
