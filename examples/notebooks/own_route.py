# %% [markdown]
# # A route of one's own
#
# An algorithm is a rule that says which ranks hold a block after each stage. Here it is written in Python, checked,
# predicted beside the algorithms of Commpass, and drawn. Under MPI it also runs:
# `mpirun -n 8 python3 own_route.py . run`.

# %%
import pathlib
import sys

import commpass

output = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# %% [markdown]
# One rank of each node, the leader, collects the blocks for other nodes and hands them to the leader there.


# %%
@commpass.Route
def leaders(source, target, layout):
    if layout.node(source) == layout.node(target):
        return [source, source, target]
    return [layout.ranks_of(layout.node(source))[0], layout.ranks_of(layout.node(target))[0], target]


leaders.labels = ["to the leader", "between leaders", "to the target"]
print(leaders.check(commpass.Layout("4x8")), "stages")

# %% [markdown]
# A second one spreads the work: each pair of nodes has a leader of its own.


# %%
@commpass.Route
def leader_of_each_pair(source, target, layout):
    here, there = layout.node(source), layout.node(target)
    if here == there:
        return [source, source, target]
    senders, receivers = layout.ranks_of(here), layout.ranks_of(there)
    return [senders[there % len(senders)], receivers[here % len(receivers)], target]


# %%
pattern = commpass.Pattern.generate("alltoall:ranks=256,bytes=64")
strategies = [leaders, leader_of_each_pair, "standard", "three-step"]
for one in commpass.predict(pattern, profile="lassen", ppn=32, strategies=strategies).records():
    print(f"{one['strategy']:20} {one['seconds'] * 1e6:8.1f} us, at most {one['messages_max']} messages of a rank")

# %%
picture = leaders.draw("alltoall:ranks=8,bytes=64", ppn=4)
picture.save(output / "leaders.svg")
picture  # a notebook shows it

# %% [markdown]
# Under MPI the route moves bytes, and each rank checks them.

# %%
if sys.argv[2:] == ["run"]:
    import numpy as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    ranks, rank = world.size, world.rank
    every_pair = commpass.Pattern.generate(f"alltoall:ranks={ranks},bytes=1")
    others = [other for other in range(ranks) if other != rank]
    send, receive = np.full(len(others), rank, np.uint8), np.zeros(len(others), np.uint8)
    with commpass.Communicator(world, "lassen", layout=f"{ranks}x1") as communicator:
        with communicator.routed_exchange(leaders, every_pair, send, receive) as exchange:
            exchange.run()
    assert receive.tolist() == others
    if rank == 0:
        print(f"rank 0 has a byte of each of the ranks {receive.tolist()}")
