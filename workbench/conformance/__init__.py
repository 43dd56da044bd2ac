"""Checks that every format and every strategy passes: the workbench's own, and yours.

They need pytest and hypothesis (`pip install 'compaction-workbench[conformance]'`):

    @pytest.mark.parametrize("check", formats.CHECKS)
    def test_my_format_conforms(check):
        check(FORMAT, [SAMPLE])

A check takes a `Format` and samples of its files as bytes, or a `Strategy` and a policy with numbers so low that it
compacts a short conversation. It raises AssertionError with the difference, or skips if it does not apply. `building`
makes messages and contexts in one line each, `drawn` generates random ones. No other room imports this one.
"""

import pytest

pytest.register_assert_rewrite("workbench.conformance.formats", "workbench.conformance.strategies")
