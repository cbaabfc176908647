"""The library as Python calls it: what the commands do, over frames, paths and releases, and policies built in code.

`commands` has a function for each command that measures, `attacks` one for each attack. They take frames of pandas,
polars, Arrow and DuckDB where the command line takes tables, and `Release` objects where it takes folders.
`column_rules` and `trees` are for policies that are built in code. ``import sfumato as sf`` has all of it.
"""
