"""Makes the shared library out of the kernels, and their header for C. Only this and the laboratory use Numba."""
