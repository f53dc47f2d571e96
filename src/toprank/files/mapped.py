"""open: a data set in a folder of arrays, mapped from its files and never read as a whole."""

from __future__ import annotations

import json
import os
import stat
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._compat import cached_property
from ..designs.streamed import mark_checked
from .errors import BAD_HEADER, DataFileError

#: What the metadata say they are.
FORMAT = "toprank data"
#: Raised whenever a version before could not read what is written.
VERSION = 1
#: The file of the metadata.
META = "meta.json"
#: The preparation of raw columns, as a model file.
PREPARE = "prepare.toprank"
#: Bytes of metadata: a million columns with names.
_MOST_META = 1 << 26
#: Rows or entries that a data set may have.
_MOST = 1 << 48
#: The arrays that there may be, and their types.
ARRAYS: dict[str, tuple[str, ...]] = {
    "X": ("<f4", "<f8"),
    "X.data": ("<f4", "<f8"),
    "X.indices": ("<i4", "<i8"),
    "X.indptr": ("<i4", "<i8"),
    "y": ("|i1",),
    "weight": ("<f8",),
    "ids": ("<i8",),
    "ids.text": ("|u1",),
    "ids.ends": ("<i8",),
}


@dataclass(frozen=True)
class DataSet:
    """Rows in files: `X`, `y` and what else is known of them.

    Attributes
    ----------
    path : str
        The folder.
    X : numpy.memmap or scipy.sparse.csr_array
        The rows, of shape (n_samples, n_features): a plain array over the file, or a CSR array over
        three. Any estimator takes them; scikit-learn's own tools may copy them.
    y : ndarray of int8
        1 for the positive class, 0 for the other.
    sample_weight : ndarray or None
        The weights, if a column of them was converted.
    feature_names : list of str or None
        The names of the columns of X; None where rows came without names.
    classes : tuple of str
        The labels as they were in the table: that of y = 0, and that of y = 1.
    meta : dict
        What the file says of itself.
    """

    path: str
    X: Any
    y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None
    feature_names: list[str] | None
    classes: tuple[str, str]
    meta: dict[str, Any]

    @property
    def ids(self) -> NDArray[Any] | None:
        """The names of the rows, if a column of them was converted; read when asked for."""
        return self._ids

    @cached_property
    def _ids(self) -> NDArray[Any] | None:
        folder, files = Path(self.path), self.meta["files"]
        if "ids" in files:
            return np.asarray(_mapped(folder, "ids", files["ids"]))
        if "ids.text" not in files:
            return None
        text = _mapped(folder, "ids.text", files["ids.text"]).tobytes()
        ends = _mapped(folder, "ids.ends", files["ids.ends"]).tolist()
        try:
            names = [text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
        except UnicodeDecodeError as error:
            raise DataFileError(f"{self.path}: its ids are no UTF-8.") from error
        return np.array(names, dtype=object)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.y)

    def __repr__(self) -> str:
        n, d = self.X.shape
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        return f"<{self.path}: {n:,} rows, {d:,} columns, {kind} {self.X.dtype}>"


def open_dataset(path: str | PathLike[str]) -> DataSet:
    """Open a data set that `toprank convert` made: nothing but its metadata is read.

    The arrays are mapped from their files, read-only, after the length of every file has been
    checked: a truncated one is an error here, not a crash of the fit.

    Parameters
    ----------
    path : str or path-like
        The folder.

    Returns
    -------
    DataSet
        With `X`, `y`, `sample_weight`, `ids`, `feature_names` and `classes`.

    See Also
    --------
    load : Read a model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import toprank
    >>> from toprank.files import convert
    >>> from toprank.datasets import load_mammography
    >>> X, y = load_mammography(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "table.npz", X=X, y=y)
    ...     _ = convert(Path(folder) / "table.npz", Path(folder) / "train.toprank", label="y")
    ...     data = toprank.open_dataset(Path(folder) / "train.toprank")
    ...     model = toprank.RectPushApp(1e-2).fit(data.X, data.y)
    >>> data.X.shape, data.classes
    ((11183, 6), ('0', '1'))
    """
    folder = Path(path)
    try:
        meta = _metadata(folder)
        return _opened(folder, meta)
    except (DataFileError, RecursionError) as error:
        raise DataFileError(f"{os.fspath(path)} cannot be opened: {error}.") from error


def is_data_set(path: str) -> bool:
    """Whether a path is that of a folder with such a data set."""
    return (Path(path) / META).is_file()


def _metadata(folder: Path) -> dict[str, Any]:
    """The metadata, checked for what is not said by the files themselves."""
    file = folder / META
    if not folder.is_dir():
        kind = "no folder" if folder.exists() else "not there"
        raise DataFileError(f"it is {kind}; `toprank convert` makes such a data set")
    if not file.is_file():
        raise DataFileError(f"there is no {META} in it")
    if file.stat().st_size > _MOST_META:
        raise DataFileError(f"its {META} is longer than any that toprank writes")
    try:
        meta = json.loads(file.read_bytes().decode("utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise DataFileError(f"its {META} is no JSON") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise DataFileError("it is no data set of toprank")
    version = meta.get("version")
    if type(version) is not int or version < 1:
        raise DataFileError("it does not say its version")
    if version > VERSION:
        raise DataFileError(
            f"toprank {str(meta.get('toprank'))[:40]} wrote it, in a form that is newer than this "
            "version knows: update toprank"
        )
    return meta


def _opened(folder: Path, meta: dict[str, Any]) -> DataSet:
    n, d = _whole(meta, "rows"), _whole(meta, "columns")
    files = meta.get("files")
    if not isinstance(files, dict) or not set(files) <= set(ARRAYS):
        raise DataFileError("it names arrays that nobody knows")
    sparse_rows = meta.get("kind") == "csr"
    if not sparse_rows and meta.get("kind") != "dense":
        raise DataFileError("its rows are neither dense nor sparse")
    lengths: dict[str, tuple[int, ...]] = {"y": (n,), "weight": (n,), "ids": (n,), "ids.ends": (n,)}
    needed = {"y", "X"}
    if sparse_rows:
        needed = {"y", "X.data", "X.indices", "X.indptr"}
        entries = _whole(meta, "entries")
        lengths |= {"X.data": (entries,), "X.indices": (entries,), "X.indptr": (n + 1,)}
    else:
        lengths["X"] = (n, d)
    if lacking := sorted(needed - set(files)):
        raise DataFileError(f"it has no array {lacking[0]}")
    for name, said in files.items():
        if name in lengths and _shape(name, said) != lengths[name]:
            raise DataFileError(f"its array {name} is of another shape than its rows")
    names: Any = meta.get("names")
    classes: Any = meta.get("classes")
    if names is not None and not (_texts(names) and len(names) == d):
        raise DataFileError("its names are not one for each column")
    if not (_texts(classes) and len(classes) == 2):
        raise DataFileError("it does not name its two classes")
    y = _mapped(folder, "y", files["y"])
    weight = _mapped(folder, "weight", files["weight"]) if "weight" in files else None
    X = _csr(folder, files, (n, d)) if sparse_rows else _mapped(folder, "X", files["X"])
    if not sparse_rows and meta.get("finite") is True:
        mark_checked(X)
    path = os.path.abspath(folder)
    return DataSet(path, X, y, weight, names, (classes[0], classes[1]), meta)


def _csr(folder: Path, files: dict[str, Any], shape: tuple[int, int]) -> Any:
    """The CSR array over its three files; SciPy's constructor would read them all."""
    data, indices, indptr = (
        _mapped(folder, name, files[name]) for name in ("X.data", "X.indices", "X.indptr")
    )
    if indices.dtype != indptr.dtype:
        raise DataFileError("its indices and pointers are of different types")
    if indptr[0] != 0 or indptr[-1] != len(data):
        raise DataFileError("its pointers do not go with its entries")
    X = sparse.csr_array(shape, dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


def _mapped(folder: Path, name: str, said: Any) -> Any:
    """An array, mapped once its file is known to be as long as it should be."""
    shape, dtype = _shape(name, said), said["dtype"]
    file = folder / f"{name}.npy"
    try:
        about = os.lstat(file)
    except OSError as error:
        raise DataFileError(f"{file.name} is not there") from error
    if not stat.S_ISREG(about.st_mode):
        raise DataFileError(f"{file.name} is no regular file")
    with file.open("rb") as stream:
        try:
            version = np.lib.format.read_magic(stream)
            read = {1: np.lib.format.read_array_header_1_0}[version[0]]
            found, fortran, kind = read(stream)
        except BAD_HEADER as error:
            raise DataFileError(f"{file.name} is no .npy file") from error
        begin = stream.tell()
    if found != shape or fortran or kind.str != dtype:
        raise DataFileError(f"{file.name} holds another array than {META} says")
    size = begin + int(np.prod(shape, dtype=object)) * kind.itemsize
    if about.st_size != size:
        how = "truncated" if about.st_size < size else "longer than it should be"
        raise DataFileError(f"{file.name} is {how}: {about.st_size:,} bytes, not {size:,}")
    if not np.prod(shape, dtype=object):
        return np.zeros(shape, dtype=kind)  # of nothing there is no map
    return np.memmap(file, mode="r", dtype=kind, shape=shape, offset=begin)


def _shape(name: str, said: Any) -> tuple[int, ...]:
    """The shape that the metadata give an array, whose type must be one of those for it."""
    if not isinstance(said, dict) or said.get("dtype") not in ARRAYS[name]:
        raise DataFileError(f"its array {name} is of a type that it cannot be of")
    shape: Any = said.get("shape")
    good = isinstance(shape, list) and all(type(k) is int and 0 <= k < _MOST for k in shape)
    if not good or len(shape) != (2 if name == "X" else 1):
        raise DataFileError(f"its array {name} has no shape")
    return tuple(shape)


def _whole(meta: dict[str, Any], name: str) -> int:
    number = meta.get(name)
    if type(number) is not int or not 0 <= number < _MOST:
        raise DataFileError(f"it does not say how many {name} it has")
    return number


def _texts(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def open(path: str | PathLike[str]) -> DataSet:
    """Open a data set: the deprecated name of `open_dataset`.

    Parameters
    ----------
    path : str or path-like
        The folder.

    Returns
    -------
    DataSet
        The opened data set.
    """
    warnings.warn(
        "toprank.open is deprecated and ends in version 0.5: use toprank.open_dataset.",
        FutureWarning,
        stacklevel=2,
    )
    return open_dataset(path)


__all__ = [
    "ARRAYS",
    "FORMAT",
    "META",
    "PREPARE",
    "VERSION",
    "DataSet",
    "is_data_set",
    "open",
    "open_dataset",
]
