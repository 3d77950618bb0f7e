"""Routes that are written in Python, and the picture of the paths of blocks."""

import numbers

from commpass.errors import InputError
from commpass.native import _core
from commpass.pattern import Layout, layout_text, pattern_of


class Route:
    """An algorithm, written as the rule by which a block travels. It can be predicted and drawn beside the strategies.

    path    a function path(source, target, layout): the ranks that hold the block after each stage, the last one the
            target. A rank twice in a row: the block waits there. All blocks between the same ranks in a stage share a
            message. The function is called for each pair of ranks that has bytes
    name    of the route; None: that of the function
    labels  names of the stages, for people

    As a decorator:

        @commpass.Route
        def node_first(source, target, layout):
            partner = layout.ranks_of(layout.node(target))[layout.local(source)]
            return [partner, target]
    """

    def __init__(self, path, name=None, labels=()):
        self.path = path
        self.name = name or path.__name__.replace("_", "-")
        self.labels = list(labels)

    def __call__(self, source, target, layout):
        """The checked path of one block, as a list. Raises InputError."""
        where = f"route {self.name}: path from {source} to {target}"
        hops = self.path(source, target, layout)
        try:
            hops = list(hops)
        except TypeError:
            raise InputError(f"{where}: it is a {type(hops).__name__}; return a list of ranks.") from None
        for hop in hops:
            if not isinstance(hop, numbers.Integral) or not 0 <= hop < layout.ranks:
                raise InputError(f"{where}: {hop!r} is no rank; use 0 to {layout.ranks - 1}.")
        if not hops or hops[-1] != target:
            raise InputError(f"{where}: it ends at {hops[-1] if hops else source}; end it at {target}.")
        return [int(hop) for hop in hops]

    def check(self, layout):
        """Checks the path of every pair of ranks of a layout. Returns the number of stages. Raises InputError."""
        layout = layout if isinstance(layout, Layout) else Layout(layout)
        ranks = range(layout.ranks)
        pairs = ((source, target) for source in ranks for target in ranks if source != target)
        return max((len(self(*pair, layout)) for pair in pairs), default=1)

    def predict(self, pattern, profile="", ppn=None, layout=None, model="burst"):
        """The Prediction of this route alone; the arguments are those of commpass.predict."""
        from commpass.prediction import predict
        return predict(pattern, profile, ppn, layout, [self], model)[0]

    def draw(self, pattern, ppn=None, layout=None):
        """draw_paths of this route."""
        return draw_paths(pattern, self, ppn, layout)

    def _listed(self, pattern, layout):
        pairs = sorted({(int(a), int(b)) for a, b, size in zip(pattern.sources, pattern.destinations, pattern.bytes)
                        if a != b and size > 0})
        return _core.Listed(self.name, [(pair, self(*pair, layout)) for pair in pairs], self.labels)


class Picture:
    """A picture. Notebooks show it.

    svg  as text
    csv  its numbers, as text
    """

    def __init__(self, svg, csv):
        self.svg, self.csv = svg, csv

    def save(self, path):
        """Writes the SVG into a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self):
        return self.svg


def draw_paths(pattern, strategy, ppn=None, layout=None):
    """The picture of `commpass predict --picture paths`: the ranks that hold the blocks of the first sender after each
    stage.

    pattern      a Pattern, or a text for Pattern.generate, of at most 64 ranks
    strategy     its text, or a Route
    ppn, layout  as for predict
    Returns a Picture. Raises InputError, NotApplicable.
    """
    pattern = pattern_of(pattern)
    text = layout_text(pattern.ranks, ppn, layout, "draw_paths")
    if isinstance(strategy, Route):
        listed = strategy._listed(pattern, Layout(text, pattern.ranks))
        return Picture(*_core.draw_listed(pattern._native, text, listed))
    return Picture(*_core.draw_strategy(pattern._native, text, strategy))
