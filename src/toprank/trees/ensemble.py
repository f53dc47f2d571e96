"""TreeEnsemble: a fitted ensemble of binary trees as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from ..designs import MemoryDesign
from ..estimators.validation import check_matrix
from ..inputs.arguments import check_count
from .arrays import NODE_ARRAYS, THRESHOLDS, kernel_of

Array = NDArray[np.float64]
Ints = NDArray[np.int32]


class TreeEnsemble(ClassifierMixin, BaseEstimator):
    """A fitted ensemble of binary trees as plain arrays, scored by compiled code.

    `from_model` makes it from a fitted model of scikit-learn or LightGBM. Its scores agree with
    the source's to rounding, missing values and categories included. It cannot be changed: `fit`
    returns it as it is.

    The arrays have one entry per node. The nodes of a tree are adjacent, the root comes first, and
    children come after their parent. A row goes to the left child if its feature is at most
    `threshold`, or if its category is in the node's set. A missing value (NaN) or an unknown
    category goes left where `missing_left` is true.

    Parameters
    ----------
    feature : array of int32
        The column that a node splits, -1 for a leaf.
    threshold : array of float64
        The largest value that goes left.
    left, right : array of int32
        Children, as indices into these arrays; not read at leaves.
    missing_left : array of bool
        Whether missing values go left.
    value : array of float64
        The value of a leaf; not read at other nodes.
    weight : array of float64
        The weight of the training rows in a leaf, for `contributions`; not read at other nodes.
    tree_starts : array of int64
        The root of each tree, and the number of nodes.
    n_features : int
        The number of columns of X.
    zero_missing : array of bool, optional
        Whether a node treats zeros, up to 1e-35 in size, as missing.
    category_set : array of int32, optional
        The index of the node's set of categories that go left, -1 where `threshold` decides.
    category_starts : array of int64, optional
        ``categories[category_starts[j]:category_starts[j + 1]]`` are the categories of column j;
        none if the column is numeric.
    categories : array of float64, optional
        The values of the categories, increasing in each column.
    set_starts : array of int64, optional
        ``set_words[set_starts[k]:set_starts[k + 1]]`` is set k.
    set_words : array of uint32, optional
        Bit c of a set, 32 to a word, stands for category number c of its column.
    offset : float, default=0.0
        Added to the sum, or to the mean, of the trees.
    average : bool, default=False
        Whether the score is the mean of the trees; otherwise it is their sum.
    round_to_float32 : bool, default=False
        Whether entries of X are rounded to float32 first, as scikit-learn's forests do.
    truncate_categories : bool, default=False
        Whether a category is the entry without its fraction, as in LightGBM.
    link : {"logistic", "probability", "identity"}, default="logistic"
        What a score is: log-odds, the probability of the positive class, or just a number.
    classes : array of shape (2,), optional
        The negative and the positive class. Required by all links except "identity".
    feature_names : sequence of str, optional
        The names of the columns, checked when X is a table.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The negative and the positive class.
    n_features_in_ : int
        The number of columns of X.
    n_trees : int
        The number of trees.
    baseline : float
        The mean score of the training rows, as the leaf weights give it.

    See Also
    --------
    from_model : Make one from a fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.trees import TreeEnsemble
    >>> stump = TreeEnsemble(
    ...     feature=np.array([0, -1, -1], np.int32),
    ...     threshold=np.array([0.5, 0.0, 0.0]),
    ...     left=np.array([1, 0, 0], np.int32),
    ...     right=np.array([2, 0, 0], np.int32),
    ...     missing_left=np.array([True, False, False]),
    ...     value=np.array([0.0, -1.0, 2.0]),
    ...     weight=np.array([0.0, 30.0, 10.0]),
    ...     tree_starts=np.array([0, 3]),
    ...     n_features=1,
    ...     classes=np.array([0, 1]),
    ... )
    >>> stump.decision_function(np.array([[0.2], [0.7], [np.nan]]))
    array([-1.,  2., -1.])
    """

    def __init__(
        self,
        *,
        feature: Ints,
        threshold: Array,
        left: Ints,
        right: Ints,
        missing_left: NDArray[np.bool_],
        value: Array,
        weight: Array,
        tree_starts: NDArray[np.int64],
        n_features: int,
        zero_missing: NDArray[np.bool_] | None = None,
        category_set: Ints | None = None,
        category_starts: NDArray[np.int64] | None = None,
        categories: Array | None = None,
        set_starts: NDArray[np.int64] | None = None,
        set_words: NDArray[np.uint32] | None = None,
        offset: float = 0.0,
        average: bool = False,
        round_to_float32: bool = False,
        truncate_categories: bool = False,
        link: str = "logistic",
        classes: NDArray[Any] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.feature = feature
        self.threshold = threshold
        self.left = left
        self.right = right
        self.missing_left = missing_left
        self.value = value
        self.weight = weight
        self.tree_starts = tree_starts
        self.n_features = n_features
        self.zero_missing = zero_missing
        self.category_set = category_set
        self.category_starts = category_starts
        self.categories = categories
        self.set_starts = set_starts
        self.set_words = set_words
        self.offset = offset
        self.average = average
        self.round_to_float32 = round_to_float32
        self.truncate_categories = truncate_categories
        self.link = link
        self.classes = classes
        self.feature_names = feature_names
        self._kernel = kernel_of(self.get_params(deep=False))

    @property
    def classes_(self) -> NDArray[Any]:
        """The negative and the positive class."""
        if self.classes is None:
            raise AttributeError("The trees are of a regression and have no classes_.")
        return self.classes

    @property
    def n_features_in_(self) -> int:
        """The number of columns of X."""
        return int(self.n_features)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns."""
        if self.feature_names is None:
            raise AttributeError("The trees have no feature_names_in_.")
        return np.array(self.feature_names, dtype=object)

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return self._kernel.n_trees

    @property
    def baseline(self) -> float:
        """The mean score of the training rows, as the leaf weights give it."""
        return self._kernel.baseline

    def fit(self, X: Any = None, y: Any = None) -> TreeEnsemble:
        """Return the ensemble unchanged, as scikit-learn's FrozenEstimator does.

        Parameters
        ----------
        X, y : object, optional
            Ignored.

        Returns
        -------
        TreeEnsemble
            Itself.
        """
        return self

    def decision_function(self, X: ArrayLike, *, n_threads: int | None = None) -> Array:
        """Return the raw score of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in float32 or float64 without a copy. NaN is a missing value.
        n_threads : int, optional
            The number of threads, as `OMP_NUM_THREADS` or the number of cores by default. Scores
            have the same bits for any number.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds, or the mean probability of the positive class, or the prediction of a
            regression; `link` says which.
        """
        scores: Array = self.stages(X, [self.n_trees], n_threads=n_threads)[0]
        return scores

    def stages(
        self, X: ArrayLike, numbers: Sequence[int], *, n_threads: int | None = None
    ) -> Array:
        """Return the scores of the first trees, for increasing numbers of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        numbers : sequence of int
            Numbers of trees, increasing.
        n_threads : int, optional
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (len(numbers), n_samples)
            ``first(numbers[k]).decision_function(X)`` in line k.
        """
        counts = [self._number(number) for number in numbers]
        if sorted(set(counts)) != counts:
            raise ValueError(f"numbers must increase, got {list(numbers)}.")
        design = self._design(X, n_threads)
        places = np.array(counts, dtype=np.int64)
        scores: Array = self._kernel.scores(design.matrix, places, design.n_threads)
        return scores

    def contributions(self, X: ArrayLike, *, n_threads: int | None = None) -> Array:
        """Return how much each column adds to the score of each row.

        At each split of a row's path, the mean of the leaves below the child differs from that
        below the node. The difference is charged to the column that is split. So the contributions
        of a row add up to its score minus `baseline`, up to rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        n_threads : int, optional
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            In the units of the score.
        """
        design = self._design(X, n_threads)
        return self._kernel.contributions(design.matrix, design.n_threads)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the more probable class of each row; for a regression, its score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, or numbers.
        """
        scores = self.decision_function(X)
        if self.link == "identity":
            return scores
        return self.classes_[(scores > THRESHOLDS[self.link]).astype(np.intp)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities of the two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            One column for each entry of `classes_`.
        """
        if self.link == "identity":
            raise ValueError(
                "The trees are of a regression, whose scores are no probabilities: use "
                "decision_function."
            )
        scores = self.decision_function(X)
        positive = expit(scores) if self.link == "logistic" else scores
        return np.column_stack([1.0 - positive, positive])

    def first(self, n_trees: int) -> TreeEnsemble:
        """Return the ensemble of the first trees, which shares the arrays.

        Parameters
        ----------
        n_trees : int
            Their number, from 1 to `n_trees`.

        Returns
        -------
        TreeEnsemble
            Of the same offset; the mean of an averaging ensemble is taken over these trees.
        """
        number = self._number(n_trees)
        if number == self.n_trees:
            return self
        end = int(self.tree_starts[number])
        parameters = self.get_params(deep=False)
        for name in (*NODE_ARRAYS, "zero_missing", "category_set"):
            if parameters[name] is not None:
                parameters[name] = parameters[name][:end]
        parameters["tree_starts"] = self.tree_starts[: number + 1]
        return TreeEnsemble(**parameters)

    def _number(self, number: Any) -> int:
        if check_count("n_trees", number) > self.n_trees:
            raise ValueError(f"n_trees must be at most {self.n_trees}, got {number}.")
        return int(number)

    def _design(self, X: Any, n_threads: int | None) -> MemoryDesign:
        if n_threads is not None:
            check_count("n_threads", n_threads)
        if sparse.issparse(X):
            raise ValueError("X is sparse, and trees read dense rows: pass X.toarray().")
        return check_matrix(self, X, reset=False, n_threads=n_threads, entries=False)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"TreeEnsemble(n_trees={self.n_trees}, n_features={self.n_features})"

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> TreeEnsemble:
        return self  # nothing of it can change

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        if self.classes is None:
            tags.estimator_type, tags.classifier_tags = "regressor", None
        return tags

    def set_params(self, **parameters: Any) -> TreeEnsemble:
        """Refuse to change a fitted ensemble.

        Parameters
        ----------
        **parameters : dict
            None.

        Returns
        -------
        TreeEnsemble
            Itself.
        """
        if parameters:
            raise ValueError("A TreeEnsemble cannot be changed: make another with from_model.")
        return self

    def __getstate__(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


__all__ = ["TreeEnsemble"]
