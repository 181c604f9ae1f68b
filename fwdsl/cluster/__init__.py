"""Data on several machines: workers of Dask hold the rows, and this process everything else.

`Cluster` (`driver.py`) connects, shares the matrices of an instance out by their leaves (`fwdsl.sums`) and asks; a `Holder` (`holder.py`) lives in
each worker and answers. Questions carry all that their answers need, so a worker that is lost is replaced by one that reads the same rows.
"""
