"""The experiments of the papers behind the project, run again: every claim, ours beside theirs."""
