"""A session played as a story of about a minute: the context fills, a compaction fires, a rule is kept or lost.

In: a session as a course, and policies. Out: frames as plain data, each drawn as rows of cells; screen, terminal
recording and moving picture show these same rows. Nothing is read, nothing waits, and no clock is asked.

frames.py         what one moment of the story is
watching.py       the rules that a story may follow
course.py         a policy played from the first call: bars, compactions, the rule after each
story.py          the scenes, in order
demonstration.py  the story of `cwb demo`
letters.py        large type
drawing.py        a frame as rows of cells
colours.py        their colours where no theme gives them
cast.py           all frames as a recording of a terminal (asciinema)
moving.py         all of them as one SVG that moves
text.py           the scenes in words
"""
