# A transform there and back of distributed arrays, which mpi4py-fft exchanges by MPI_Alltoallw; and vectors by MPI_Alltoallv.
import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size

fft = PFFT(comm, (24, 20, 18), axes=(0, 1, 2), dtype=np.float64)
u = newDistArray(fft, False)
u[:] = np.random.default_rng(rank).random(u.shape)
before = u.copy()
for _ in range(10):
    u = fft.backward(fft.forward(u))
assert np.allclose(u, before)

for call in range(30):
    counts = np.array([(rank + other + call) % 4 for other in range(ranks)], dtype="i")
    places = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype("i")
    sent, got = np.full(counts.sum(), float(rank)), np.full(counts.sum(), -1.0)
    comm.Alltoallv([sent, counts, places, MPI.DOUBLE], [got, counts, places, MPI.DOUBLE])
    for other in range(ranks):
        assert (got[places[other] : places[other] + counts[other]] == other).all()

total = comm.reduce(float(u.sum()))
if rank == 0:
    print(f"{total:.12e}")
