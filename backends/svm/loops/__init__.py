"""Plain loops over samples, compiled into the kernels that use them."""
