"""Parameters for a task that hold in every contact it may meet, with a certificate. READ FIRST: tune_task.py.

knowledge.py     what the user knows, and between which bounds
tasks/           press, follow, insert, guide: cases, figures, unknowns
score.py         figures of a case -> cost; costs of all cases -> score, the mean of the worst tenth
screen.py        candidates that are not worth a simulation: no reserve in the stability model, too hard, too slow
optimise.py      CMA-ES in generations, kept in a journal (journal.py)
trials.py        threads of this process;  cluster.py  the same on Dask
certificate.py   fresh cases, and a bound on how often the parameters fail
tuning_result.py parameter file and summary;  tuning_report.py, tuning_figure.py  what is shown
"""
