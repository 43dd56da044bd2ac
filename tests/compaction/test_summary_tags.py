from workbench.compaction.summary_template import summary_inside, without_summary_tags


def test_one_outer_pair_of_tags_is_removed() -> None:
    assert without_summary_tags("\n<summary>\n<summary>x</summary>\n</summary> ") == "<summary>x</summary>"
    assert without_summary_tags("see <summary>x</summary>") == "see <summary>x</summary>"


def test_the_summary_proper_is_found_inside_a_node() -> None:
    assert summary_inside("<supervisor>\n<summary>\nwhat I did\n</summary>\n</supervisor>") == "what I did"
    assert summary_inside("no tags") == "no tags"
