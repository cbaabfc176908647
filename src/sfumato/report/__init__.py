"""Reports on a release: figures before and after, the private report, and the public summary."""
