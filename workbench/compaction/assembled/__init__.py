"""Assemble a whole prompt as document 002 does, for any session: compressed tool results, mentioned files, the to-do
recap."""
