"""Methods for support vector machines, on their duals: one file a method, their loops in `loops` and `rows`."""
