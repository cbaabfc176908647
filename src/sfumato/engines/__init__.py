"""Who has the rows of a table that does not fit into memory: the disk or a cluster, behind one seam."""
