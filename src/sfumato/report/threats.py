"""What a release does not protect against, in plain words: said to the data holder and to whoever gets the release."""

ALGORITHM = (
    "The algorithm takes the least loss it finds that meets the promise. Who knows this can rule out some inputs and "
    "grow surer of a sensitive value than the promised bound says (minimality)."
)
EXACT = " The quasi-identifiers of all rows are published as they were: the adversary can run the algorithm on them."
DRAWN = (
    "Buckets are drawn at random among rows of the most frequent sensitive values left, without regard to the "
    "quasi-identifiers. Who knows this learns nothing of a person from which bucket it is; rows that went to a bucket "
    "as the last ones are of the values that were left over."
)
LEARNER = (
    "A learner can pick up from all classes how sensitive values go with quasi-identifiers, and tell within a class "
    "which assignment is likelier: the deFinetti attack. It is surer than the shares of a class say."
)
DOWNCODING = (
    "Generalization that is no coarser than it must be can be partly undone by someone who knows how such data "
    "are distributed (downcoding). A label is a limit on what is shown, not on what can be guessed."
)
TIGHT = (
    " Here every class has the tightest label that covers its rows: one that is told as 30–39 holds rows of two "
    "narrower labels at least."
)
PATTERNS = (
    "A learner trained on the release can pick up how sensitive values go with quasi-identifiers, and guess better "
    "than a class's own shares. It can do so for people outside the table as well."
)
KNOWLEDGE = (
    "Who knows sensitive values of others in a class, or that a person does not hold some value, can strike these "
    "out and be surer of the rest."
)
MEMBERSHIP = (
    "The promise is for people known to be in the table; it does not hide whether someone is. It is not "
    "differential privacy."
)
SHOWN = (
    "The first table shows quasi-identifiers as they were. Whoever knows a person's finds the line, and with it that "
    "the person is in the table; somebody whose combination is rare is seen to be there for certain."
)
"""The same of two tables."""

APART = " Someone who knows such a value of a person can tell rows of one class apart."
BESIDE = " Whoever finds a person's line reads them: they stand beside exact quasi-identifiers."
PEOPLE = (
    "Classes are counted in people. But all rows of a person carry one pseudonym, so that they can be put together: "
    "a sequence of rows can be unique where no single row is. Shares of sensitive values are counted in rows."
)
DRAWN_BY_WEIGHT = (
    " says how many people a row stands for, and with it how somebody was drawn. Who knows the design of the survey, "
    "or has another table with the same weights, can tell rows apart by a weight that few have."
)
PERTURBED = (
    ". Masking promises no definition by itself: it hides exact values, and approximate ones may be guessed. Who knows "
    "how a column was masked can compare by nearness, average over several rows or releases about a person, and "
    "recognize a value that only few can have."
)
HOMOGENEOUS = ". A class whose rows agree there discloses it, however large it is."

DRAWN_THREATS = (
    (
        "What a group has in common",
        (
            "Rows are drawn from groups of people who are alike. What nearly all of a group share is told of each of "
            "them, whoever they are: a promise on the size of groups is none on what their members have in common."
        ),
    ),
    (
        "Knowing the others of a group",
        (
            "Means and covariances are of a whole group. Whoever knows all of its rows but one, and finds the rows "
            "that were drawn for it, can work out much of the last."
        ),
    ),
    (
        "Outliers",
        (
            "A value far from all others shifts the mean of its group and widens it. That there is such a value can be "
            "seen, if not whose it is or how large exactly."
        ),
    ),
    (
        "Being in the table",
        ("The promise does not hide whether somebody is in the table. It is not differential privacy."),
    ),
    (
        "Patterns",
        (
            "What goes with what is kept, as it is meant to be. A learner trained on drawn rows guesses sensitive "
            "values, of people in the table and of others alike."
        ),
    ),
)
"""What remains where rows are drawn from the statistics of groups: titles and texts."""

UNCERTAIN_THREATS = (
    (
        "An average",
        (
            "Expected anonymity is an average over the draw of a centre. In the draw that is published some densities "
            "fit their own record best, and nobody else's as well; how many was measured. k-anonymity promises more."
        ),
    ),
    (
        "What spreads tell",
        (
            "A spread is as wide as its record needs it: wide where few are near, 0 where k are equal. That shows "
            "who is far from others, and whoever has all true records and knows the algorithm can tell whose spread "
            "it is. One spread for all (spread = common) tells nothing of a single record."
        ),
    ),
    (
        "Columns that are told as they are",
        (
            "Sensitive and plain columns stand beside the density. Whoever matches it with a person learns them; "
            "whoever knows such a value of a person, or one that is an atom or missing, has fewer records to choose "
            "from than were counted, unless the column is one of the strata."
        ),
    ),
    (
        "Two draws",
        (
            "Another release of the same table has other centres. Their mean is nearer to the truth than each of them: "
            "expected anonymity is of one release."
        ),
    ),
    (
        "Being in the table",
        ("The promise does not hide whether somebody is in the table. It is not differential privacy."),
    ),
)
"""What remains where records are published as densities: titles and texts."""
