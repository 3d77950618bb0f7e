"""Predictions by the profile of a machine, without MPI."""

import os

import numpy as np

from commpass.native import _core
from commpass.errors import InputError, NotApplicable


def profiles():
    """The sorted names of the profiles in the search path."""
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in _core.profile_paths())


def _layout(pattern, ppn, layout):
    if (ppn is None) == (layout is None):
        raise InputError("predict: give either ppn or layout; for example ppn=32 or layout=\"2x32\".")
    if layout is not None:
        return layout
    if ppn < 1:
        raise InputError(f"predict: ppn is {ppn}; use 1 or more.")
    return ",".join(str(rank // ppn) for rank in range(pattern.ranks))


def predict(pattern, profile="", ppn=None, layout=None, strategies=(), model="burst"):
    """Predicts the times of strategies for one exchange of a pattern.

    pattern     a Pattern, or a text for Pattern.generate
    profile     name or file of a machine profile; "": COMMPASS_PROFILE, else the built-in one, generic
    ppn         ranks on a node
    layout      or the layout: "NODESxRANKS", "NODESxSOCKETSxRANKS", "GROUPSxNODESxSOCKETSxRANKS",
                or a node for each rank ("0,0,1")
    strategies  texts; none: all candidates
    model       "burst", "max-rate" or "postal"

    Returns a list of Prediction, the cheapest first: strategy, seconds, stages, explanation. A stage has a label, the most
    messages and bytes that a rank sends, and its seconds.
    Raises InputError, NotApplicable.
    """
    if isinstance(pattern, str):
        pattern = _core.Pattern.generate(pattern)
    return _core.predict(pattern, profile, _layout(pattern, ppn, layout), list(strategies), model)


def price_table(patterns, strategies, profile="", ppn=None, layout=None, model="burst"):
    """The seconds of each strategy (columns) for each pattern (rows), as an array; nan where one does not apply.

    For plots: matplotlib.pyplot.loglog(sizes, price_table(…)).
    """
    table = np.full((len(patterns), len(strategies)), np.nan)
    for row, pattern in enumerate(patterns):
        for column, strategy in enumerate(strategies):
            try:
                table[row, column] = predict(pattern, profile, ppn, layout, [strategy], model)[0].seconds
            except NotApplicable:
                pass
    return table
