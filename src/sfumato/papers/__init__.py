"""Papers: the experiments of the papers behind the project, run again; ours beside theirs, holds or not."""
