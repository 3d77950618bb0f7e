"""Irregular MPI exchanges: predicts the time of strategies, and runs the fastest one on numpy arrays.

Predictions need no MPI:

    pattern = commpass.Pattern.generate("random:ranks=64,degree=8,bytes=1KiB")
    for prediction in commpass.predict(pattern, profile="lassen", ppn=32):
        print(prediction.strategy, prediction.seconds)

A Route is an algorithm that is written in Python, and predicted beside the others.

Exchanges need mpi4py, which the first use of Communicator imports:

    with commpass.Communicator(MPI.COMM_WORLD) as communicator:
        communicator.alltoallv(out, out_counts, into, into_counts)
"""

from commpass.errors import Error, InputError, NotApplicable
from commpass.native._core import version as __version__
from commpass.pattern import Layout, Pattern
from commpass.plots import plot_predictions, plot_sweep
from commpass.prediction import Prediction, Predictions, Stage, predict, price_table, profile_paths, profiles
from commpass.route import Picture, Route, draw_paths

_of_mpi = ("CartExchange", "CartNeighborhood", "Communicator", "Exchange", "HaloExchange", "IndexedExchange",
           "Reduction", "RoutedExchange", "SparseExchange")

__all__ = ["Error", "InputError", "Layout", "NotApplicable", "Pattern", "Picture", "Prediction", "Predictions", "Route",
           "Stage", "draw_paths", "plot_predictions", "plot_sweep", "predict", "price_table", "profile_paths",
           "profiles", *_of_mpi]


def __getattr__(name):
    if name not in _of_mpi:
        raise AttributeError(f"module 'commpass' has no attribute '{name}'")
    from commpass import mpi  # only here: predictions need no MPI
    return getattr(mpi, name)
