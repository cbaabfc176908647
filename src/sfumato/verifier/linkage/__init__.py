"""(X, Y)-privacy over the join of a release with earlier ones, counted in SQL from the files alone.

A join of two tables may have more lines than anybody can hold. Rows that agree in all that matters are one group with
a count (`pivot_join`), labels that match are found once for each combination of labels (`record_matching`), and what a
requirement asks for is counted from there (`xy_checks`).
"""
