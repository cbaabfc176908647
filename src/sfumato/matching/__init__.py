"""Matching: which rows of a release may be about a known person.

A person is known by values (`people`), and a release has labels. A row may be about a person where each value is
covered by the label of its column (`lookup`).
"""
