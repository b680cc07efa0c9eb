def concordance_index(y,s): return 0.
