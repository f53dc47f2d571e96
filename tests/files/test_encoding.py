"""What a model is made of, as JSON and arrays, and back; what is neither is told by its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from toprank.files import ModelFileError
from toprank.files.classes import _by_name
from toprank.files.decode import Decoder
from toprank.files.encode import DEEPEST, KIND, Encoder
from toprank.selection import RankerCV


class Arrays(dict[str, NDArray[Any]]):
    """A place for arrays."""

    def store(self, array: NDArray[Any]) -> str:
        self[f"arrays/{len(self)}.npy"] = array
        return f"arrays/{len(self) - 1}.npy"


def again(value: Any) -> Any:
    arrays = Arrays()
    text = json.dumps(Encoder(arrays.store).node(value, "model"))
    return Decoder(arrays.__getitem__).value(json.loads(text))


def decoded(node: Any, **arrays: Any) -> Any:
    return Decoder(arrays.__getitem__).value(node)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, "word", 0.5, float("inf"), -float("inf")),
        *([1, (2, "a")], {"a": 1, 2: None, (3, "b"): []}, slice(1, None, 2)),
        *(np.float32(0.1), np.int64(3), np.str_("a"), np.datetime64("2024-01-31")),
        *(np.dtype("<f4"), np.dtype("O"), np.dtype("U3"), np.dtype("<M8[ns]")),
        *(float, int, bool, str, object, np.float32, np.int8),
    ],
)
def test_a_value_comes_back(value: Any) -> None:
    back = again(value)
    assert type(back) is type(value)
    assert back == value


def test_arrays_come_back() -> None:
    for array in (
        np.arange(6.0).reshape(2, 3),
        np.array(["a", "bc"]),
        np.array([1, "a", None, 2.5], dtype=object).reshape(2, 2),
        np.empty((0, 2), dtype=object),
        np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")]),
    ):
        back = again(array)
        assert back.dtype == array.dtype
        assert back.shape == array.shape
        assert back.tolist() == array.tolist()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_come_back_as_what_they_were(kind: Any) -> None:
    rows = kind(np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0]]))
    back = again(rows)
    assert type(back) is kind
    assert back.toarray().tolist() == rows.toarray().tolist()


def test_names_begin_with_the_package_so_that_a_module_may_move() -> None:
    assert _by_name({"toprank.a.b": "C D", "sklearn": "E"}) == {
        "toprank.C": "toprank.a.b",
        "toprank.D": "toprank.a.b",
        "sklearn.E": "sklearn",
    }


def test_a_pipeline_without_a_cache_comes_back() -> None:
    model = make_pipeline(StandardScaler(), RankerCV(toprank.TopPush(0.5), alphas=[0.1]))
    assert repr(again(model)) == repr(model)


def test_what_was_set_to_watch_a_fit_is_left_out() -> None:
    model = toprank.TopPush(0.5)
    model.learnt_ = 3
    model._skl_callbacks = [print]
    back = again(model)
    assert vars(back) == vars(toprank.TopPush(0.5)) | {"learnt_": 3}


class CallableEstimator:
    """No function, for all that it can be called."""

    def __call__(self) -> None: ...

    def get_params(self) -> dict[str, Any]:
        return {}


def hooked() -> Any:
    model = toprank.TopPush()
    model.hook_ = len
    return model


@pytest.mark.parametrize(
    ("value", "at", "told"),
    [
        (object(), "", "^it is of class builtins.object, which is not among those"),
        (object(), "steps[1]", r"^steps\[1\] is of class builtins.object"),
        ([0, (1, object())], "a", r"^a\[1\]\[1\] is of class"),
        ({"k": object()}, "a", r"^a\['k'\] is of class"),
        ({object(): 1}, "a", r"^a key is of class"),
        (np.array([1, object()], dtype=object), "a", r"^a\[1\] is of class"),
        (len, "a", "^a is 'len', a function"),
        (CallableEstimator(), "a", "^a is of class .*CallableEstimator"),
        (hooked(), "", r"^TopPush\.hook_ is 'len', a function"),
        (hooked(), "best", r"^best\.hook_ is 'len', a function"),
        (toprank.TopPush(alpha=object()), "best", r"^best\.alpha is of class"),
        (np.zeros(2, dtype=[("a", object)]), "a", "^a is an array of .*which no model file holds"),
        (np.zeros(2, dtype="V0"), "a", "^a is an array of .*which no model file holds"),
        (np.zeros(1, dtype=[("a", object)])[0], "a", "^a is an array of .*which no model file"),
        (np.dtype([("a", "<f4")]), "a", "^a is of class"),
        (sparse.csc_array(np.eye(2)), "a", "^a is a sparse matrix of format csc, not CSR"),
        (type, "a", "^a is 'type', a function"),
        (make_pipeline(toprank.TopPush(), memory="here"), "", r"^Pipeline\.memory names a cache"),
    ],
)
def test_what_cannot_be_kept_is_named_with_its_place(value: Any, at: str, told: str) -> None:
    with pytest.raises(ModelFileError, match=told):
        Encoder(Arrays().store).node(value, at)


def estimator_with(inner: Any) -> Any:
    model = toprank.TopPush()
    model.inner_ = inner
    return model


def record_with(inner: Any) -> Any:
    record = object.__new__(KFold)
    record.inner = inner
    return record


def objects_with(inner: Any) -> Any:
    array = np.empty(1, dtype=object)
    array[0] = inner
    return array


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: [inner],
        lambda inner: (inner,),
        lambda inner: {"a": inner},
        objects_with,
        estimator_with,
        record_with,
    ],
)
def test_all_kinds_of_nesting_may_be_as_deep(around: Callable[[Any], Any]) -> None:
    """What is deepest is counted the same, written and read: nothing written is refused."""
    value: Any = 1
    for _ in range(DEEPEST - 1):
        value = around(value)
    again(value)
    with pytest.raises(ModelFileError, match="nested too deeply, or holds itself"):
        again(around(around(value)))


def test_keys_count_as_what_they_are_in() -> None:
    key: Any = 1
    for _ in range(DEEPEST - 1):
        key = (key,)
    assert again({key: 1}) == {key: 1}
    with pytest.raises(ModelFileError, match=r"^model key.* is nested too deeply"):
        again({(key,): 1})


def test_lists_are_taken_down_to_the_deepest_and_no_further() -> None:
    node: Any = 1
    for _ in range(DEEPEST):
        node = {KIND: "list", "items": [node]}
    assert str(decoded(node)) == "[" * DEEPEST + "1" + "]" * DEEPEST
    with pytest.raises(ModelFileError, match="it is nested too deeply"):
        decoded({KIND: "list", "items": [node]})


LONG = "x" * 300


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ({KIND: LONG}, "it holds 'x{80}', which this version does not know"),
        ([1], "it holds 'None', which this version does not know"),
        ({KIND: "scalar", "array": "two"}, "one of its numbers is an array"),
        ({KIND: "list", "items": 3}, "one of its lists is none"),
        ({KIND: "objects", "shape": [2.0], "items": [1, 2]}, r"declares a shape \[2\.0\]$"),
        ({KIND: "objects", "shape": [-1], "items": [1]}, r"declares a shape \[-1\]$"),
        ({KIND: "objects", "shape": [True], "items": [1]}, r"declares a shape \[True\]$"),
        ({KIND: "objects", "shape": {}, "items": [1]}, r"declares a shape \{\}$"),
        ({KIND: "objects", "shape": [LONG], "items": [1]}, r"declares a shape \['x{78}$"),
        ({KIND: "objects", "shape": [3], "items": [1, 2]}, r"shape \(3,\) of 2 objects"),
        ({KIND: "objects", "shape": [10**300], "items": []}, r"shape \(10{78} of 0 objects"),
        ({KIND: "dtype", "name": 3}, "it holds the type '3', which NumPy lacks"),
        ({KIND: "dtype", "name": "float32"}, "it holds the type 'float32', which NumPy lacks"),
        ({KIND: "dtype", "name": "," * 300}, "it holds the type ',{80}', which NumPy lacks"),
        ({KIND: "type", "name": "(9,)f8"}, r"it holds the type '\(9,\)f8', which NumPy lacks"),
        ({KIND: "function", "name": LONG}, "it holds 'x{80}', which this version of toprank"),
        ({KIND: "function", "name": ["a"]}, r"it holds \"\['a'\]\", which this version of toprank"),
        ({KIND: "record", "class": "sklearn.KFold", "attributes": {LONG + " ": 1}}, "e 'x{80}', w"),
        ({KIND: "record", "class": "sklearn.KFold", "attributes": {"class": 1}}, "attribute 'clas"),
        ({KIND: "record", "class": "sklearn.KFold", "attributes": {"split": 1}}, "KFold.split"),
    ],
)
def test_nodes_that_nobody_wrote(node: Any, told: str) -> None:
    with pytest.raises(ModelFileError, match=told):
        decoded(node, two=np.zeros(2))


def pipeline(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {"parameters": {"steps": None}, "attributes": {}}
    return {KIND: "estimator", "class": "sklearn.Pipeline", **parts, **changes}


def test_what_an_estimator_has_of_itself_is_not_replaced() -> None:
    with pytest.raises(ModelFileError, match=r"it would replace Pipeline\.fit$"):
        decoded(pipeline(attributes={"fit": 1}))
    with pytest.raises(ModelFileError, match=r"it would replace Pipeline\.named_steps$"):
        decoded(pipeline(attributes={"named_steps": 1}))
    with pytest.raises(ModelFileError, match=r"Pipeline has no parameter 'x{80}' here"):
        decoded(pipeline(parameters={LONG: 1, "y": 2}))


def test_a_sparse_matrix_that_leads_out_of_its_columns() -> None:
    parts = {part: part for part in ("data", "indices", "indptr")}
    node = {KIND: "csr_array", "shape": [1, 3], **parts}
    arrays = {"data": np.ones(1), "indptr": np.array([0, 1])}
    assert decoded(node, indices=np.array([2]), **arrays).toarray().tolist() == [[0, 0, 1]]
    with pytest.raises(ModelFileError, match="its sparse matrix is none"):
        decoded(node, indices=np.array([3]), **arrays)


def test_a_place_is_told_shortened() -> None:
    with pytest.raises(ModelFileError, match=r"^x{200} is nested too deeply"):
        Encoder(Arrays().store).node(1, LONG, DEEPEST + 1)
