"""Predictions by the profile of a machine, without MPI."""

import os
from dataclasses import asdict, dataclass

import numpy as np

from commpass.errors import NotApplicable
from commpass.native import _core
from commpass.pattern import Layout, layout_text, pattern_of
from commpass.route import Route


def profile_paths():
    """The files of the profiles in the search path."""
    return _core.profile_paths()


def profiles():
    """The sorted names of the profiles in the search path."""
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in profile_paths())


@dataclass(frozen=True)
class Stage:
    """A stage of a predicted exchange.

    label         for people: "node digit"
    messages_max  messages that a rank sends, the most over ranks
    bytes_max     bytes that a rank sends, the most over ranks
    seconds       by which the stage moves the finish of the slowest rank
    """

    label: str
    messages_max: int
    bytes_max: int
    seconds: float


@dataclass(frozen=True)
class Prediction:
    """A strategy, and its predicted time for one exchange.

    strategy     its text, or the name of a Route
    seconds      of one exchange
    stages       whose seconds sum up to those of the exchange
    explanation  stage by stage what dominates
    """

    strategy: str
    seconds: float
    stages: tuple
    explanation: str

    @classmethod
    def _of(cls, native):
        stages = tuple(Stage(s.label, s.messages_max, s.bytes_max, s.seconds) for s in native.stages)
        return cls(native.strategy, native.seconds, stages, native.explanation)

    def __repr__(self):
        return f"<commpass.Prediction {self.strategy}: {self.seconds!r} s>"


class Predictions(list):
    """A list of Prediction, the cheapest first."""

    def records(self, by="strategy"):
        """The predictions as a list of dicts.

        by  "strategy": strategy, seconds, stages (their number), messages_max and bytes_max (summed over stages);
            "stage": strategy, stage (from 1), label, messages_max, bytes_max, seconds
        """
        if by == "stage":
            return [{"strategy": one.strategy, "stage": number, **asdict(stage)}
                    for one in self for number, stage in enumerate(one.stages, 1)]
        if by != "strategy":
            raise ValueError(f"records: by is {by!r}; use \"strategy\" or \"stage\".")
        return [{"strategy": one.strategy, "seconds": one.seconds, "stages": len(one.stages),
                 "messages_max": sum(stage.messages_max for stage in one.stages),
                 "bytes_max": sum(stage.bytes_max for stage in one.stages)} for one in self]

    def to_frame(self, by="strategy"):
        """records() as a DataFrame of pandas. Raises ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame: pandas is not installed; install python3-pandas, or use records().") from None
        return pandas.DataFrame.from_records(self.records(by))


def predict(pattern, profile="", ppn=None, layout=None, strategies=(), model="burst"):
    """Predicts the times of strategies for one exchange of a pattern.

    pattern     a Pattern, or a text for Pattern.generate
    profile     name or file of a machine profile; "": COMMPASS_PROFILE, else the built-in one, generic
    ppn         ranks on a node
    layout      or the layout: a Layout or its text
    strategies  texts and Routes; none: all candidates
    model       "burst", "max-rate" or "postal"

    Returns Predictions, the cheapest first; strategies that exceed a limit of the profile come last. Of a Route no
    limit is checked.
    Raises InputError, NotApplicable.
    """
    pattern = pattern_of(pattern)
    text = layout_text(pattern.ranks, ppn, layout, "predict")
    strategies = [strategies] if isinstance(strategies, (str, Route)) else list(strategies)
    texts = [one for one in strategies if not isinstance(one, Route)]
    result = Predictions()
    if texts or not strategies:
        result += map(Prediction._of, _core.predict(pattern._native, profile, text, texts, model))
    for route in strategies:
        if isinstance(route, Route):
            listed = route._listed(pattern, Layout(text, pattern.ranks))
            one = Prediction._of(_core.predict_listed(pattern._native, profile, text, listed, model))
            place = next((i for i, other in enumerate(result) if other.seconds > one.seconds), len(result))
            result.insert(place, one)
    return result


def price_table(patterns, strategies, profile="", ppn=None, layout=None, model="burst"):
    """The seconds of each strategy (columns) for each pattern (rows), as an array; nan where one does not apply."""
    table = np.full((len(patterns), len(strategies)), np.nan)
    for row, pattern in enumerate(patterns):
        for column, strategy in enumerate(strategies):
            try:
                table[row, column] = predict(pattern, profile, ppn, layout, [strategy], model)[0].seconds
            except NotApplicable:
                pass
    return table
