"""Every rank sends three numbers to the next one, many times. mpirun -n 2 python3 ring.py"""

import numpy as np
from mpi4py import MPI

import commpass

world = MPI.COMM_WORLD
following, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
out, into = np.full(3, float(world.rank)), np.zeros(3)
with commpass.Communicator(world) as communicator:
    with communicator.neighbor_exchange(out, [(following, 3)], into, [(before, 3)]) as exchange:
        for step in range(10):
            exchange.start()
            # Work that needs neither array goes here.
            exchange.wait()
        if world.rank == 0:
            print(f"rank 0 got {into} by {exchange.strategy}")
