"""What a published label covers: ``35-39``, ``[1.5, 2)``, ``1970s``, ``435*``, ``{Bern, Thun}``, ``service``, ``*``.

How a label is written and read is known by its kind of hierarchy (`sfumato.hierarchy`). What it covers is found here:
for whoever has the public files alone (`data_dictionary`, `covered_values`, `label_overlap`), and for the publisher,
who has the original as well (`covered_values`, `label_loss`).
"""
