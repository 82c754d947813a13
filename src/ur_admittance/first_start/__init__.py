"""The first start on a computer: what is compiled then, in which parts, and how long it takes."""

from ur_admittance.first_start.prepare import Progress, Tell, cores, in_words, prepare

SIMULATION = "ur_admittance.robots.simulated.simulated_robot:compile_kernels"  # for prepare: the simulated arm too

__all__ = ["SIMULATION", "Progress", "Tell", "cores", "in_words", "prepare"]
