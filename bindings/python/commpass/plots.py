"""Two plots of predictions, by matplotlib."""

from commpass.prediction import price_table


def _axes(axes):
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot: matplotlib is not installed; install python3-matplotlib.") from None
    return axes if axes is not None else pyplot.subplots()[1]


def plot_predictions(predictions, top=10, axes=None):
    """A bar for each prediction, the cheapest on top, divided into its stages.

    predictions  as predict returns them
    top          how many of them
    axes         of matplotlib; None: new ones
    Returns the axes. Raises ImportError where matplotlib is not installed.
    """
    axes = _axes(axes)
    shown = predictions[:top]
    for place, one in enumerate(shown):
        begin = 0.0
        for number, stage in enumerate(one.stages):
            axes.barh(place, stage.seconds, left=begin, color=f"C{number % 10}", edgecolor="white")
            begin += stage.seconds
    axes.set_yticks(range(len(shown)), [one.strategy for one in shown])
    axes.invert_yaxis()
    axes.set_xlabel("predicted seconds, by stage")
    return axes


def plot_sweep(values, patterns, strategies, profile="", ppn=None, layout=None, model="burst", axes=None):
    """A line for each strategy over a series of patterns; both axes are logarithmic.

    values      the positions on the horizontal axis, one for each pattern
    patterns    Patterns, or texts for Pattern.generate
    strategies  texts and Routes
    axes        of matplotlib; None: new ones. The other arguments are those of predict
    Returns the axes. Raises ImportError where matplotlib is not installed, InputError.
    """
    axes = _axes(axes)
    table = price_table(patterns, strategies, profile, ppn, layout, model)
    for strategy, seconds in zip(strategies, table.T):
        axes.loglog(values, seconds, marker="o", label=strategy if isinstance(strategy, str) else strategy.name)
    axes.set_ylabel("predicted seconds")
    axes.legend()
    return axes
