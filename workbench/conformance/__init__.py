"""What every format and every strategy has to keep, as checks that anyone can run on theirs, with pytest and hypothesis
(`pip install 'compaction-workbench[conformance]'`). The workbench's own are held by the very same.

    @pytest.mark.parametrize("check", formats.CHECKS)
    def test_my_format_conforms(check):
        check(FORMAT, [SAMPLE])

A check is given a `Format` and samples of its files as bytes, or a `Strategy` and numbers at which a short conversation
is long; it raises an AssertionError that says what differs, or skips what does not apply. `building` makes messages and
contexts in one line each, `drawn` generates them. Nothing of the workbench imports this room.
"""

import pytest

pytest.register_assert_rewrite("workbench.conformance.formats", "workbench.conformance.strategies")
