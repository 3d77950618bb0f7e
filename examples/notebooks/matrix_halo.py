# %% [markdown]
# # The halo exchange of a matrix
#
# A matrix becomes a pattern, the pattern a table of predictions and two pictures. Nothing here needs MPI. Jupyter
# opens this file with Jupytext; `python3 matrix_halo.py` runs it as a script.

# %%
import pathlib
import sys

import scipy.io

import commpass

folder = pathlib.Path(__file__).parent if "__file__" in globals() else pathlib.Path()
output = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
matrix = scipy.io.mmread(folder.parent / "matrices" / "copter2.mtx.gz")
pattern = commpass.Pattern.from_matrix(matrix, ranks=160)
print(f"{matrix.shape[0]} rows on {pattern.ranks} ranks: {pattern.statistics()['messages']} messages")

# %% [markdown]
# The predictions, the cheapest first, as a data frame. `records()` gives the same as a list of dicts.

# %%
predictions = commpass.predict(pattern, profile="lassen", ppn=40)
frame = predictions.to_frame()
frame["us"] = (frame.seconds * 1e6).round(1)
print(frame[["strategy", "us", "messages_max", "bytes_max"]].head(5).to_string(index=False))

# %%
axes = commpass.plot_predictions(predictions, top=6)
axes.figure.savefig(output / "predictions.svg", bbox_inches="tight")

# %% [markdown]
# The same matrix on other numbers of ranks.

# %%
numbers = [40, 80, 160, 320]
patterns = [commpass.Pattern.from_matrix(matrix, ranks) for ranks in numbers]
strategies = ["standard", "two-step", "local-then-node"]
table = commpass.price_table(patterns, strategies, profile="lassen", ppn=40)
for ranks, row in zip(numbers, table):
    print(f"{ranks} ranks: {strategies[row.argmin()]} takes {row.min() * 1e6:.1f} us")
axes = commpass.plot_sweep(numbers, patterns, strategies, profile="lassen", ppn=40)
axes.set_xlabel("ranks")
axes.figure.savefig(output / "ranks.svg", bbox_inches="tight")
