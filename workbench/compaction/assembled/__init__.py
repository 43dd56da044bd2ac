"""A prompt as document 002 puts it together, for any session: what of a tool's result stays, what is noted beside the
messages, and how its layers read one after the other."""
