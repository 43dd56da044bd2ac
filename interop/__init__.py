"""The tools themselves, run against a server on this machine: do they send what the workbench shows and promises?"""
