"""What the estimators take from scikit-learn, which not everybody has: one place that says how to get it."""

from sfumato.errors import InputError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin
    from sklearn.cluster import KMeans
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise InputError(
        "the estimators of sfumato.collect need scikit-learn 1.6 or later; install it with pip install 'sfumato[learn]'"
    ) from None

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "DensityMixin",
    "KMeans",
    "check_classification_targets",
    "check_is_fitted",
    "check_random_state",
    "validate_data",
]
