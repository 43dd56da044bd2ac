"""Demo of a session in about a minute: the context fills, a compaction fires, a rule is kept or lost.

The input is a session's messages in one sequence (`workbench.analysis.course.Course`) and presets. The output is frames
as plain data, each drawn as rows of cells. Screen, terminal recording and animated picture show the same rows. Nothing
here waits, reads a session file or reads a clock.

frames.py   frame, lane and part: the data of a story
lanes.py    replay of a session under a preset: parts of every prompt, compactions, states of the followed rule
story.py    the scenes, in order; the story of `cwb demo` without a file
letters.py  large letters of block characters
drawing.py  a frame as rows of cells
outputs.py  a story as a terminal recording (asciinema), an animated SVG, or text
"""
