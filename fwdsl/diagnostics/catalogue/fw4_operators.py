"""FW4526 to FW4531: data known by their products alone, entries that a fit has not seen, and orders of columns."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW4526": Entry(
        "an adjoint that is not the operator's own",
        "`rmatvec` must be the product with the transpose of the matrix that `matvec` multiplies with. It is checked when the operator is"
        " bound: <A x, y> and <x, A'y> are compared for three pairs of random vectors, and may differ by a relative 1e-6.",
        "fw.operator(shape=(n, n), matvec=np.cumsum, rmatvec=np.cumsum)",
        "fw.operator(shape=(n, n), matvec=np.cumsum, rmatvec=lambda y: np.cumsum(y[::-1])[::-1])",
    ),
    "FW4527": Entry(
        "a product that fails",
        "The functions of `fw.operator` take a vector of real numbers and give one of the length that the shape says, of finite real"
        " numbers. An exception in them, another shape, complex numbers, nan or infinity end the run, at binding or later.",
        "fw.operator(shape=(5, 8), matvec=np.fft.fft, rmatvec=np.fft.ifft)",
        "fw.operator(shape=(5, 8), matvec=lambda x: dct(x)[:5], rmatvec=lambda y: dct_transposed(y, 8))",
    ),
    "FW4528": Entry(
        "an operator where entries are needed",
        "Of an operator only products with vectors and matrices are known. It stands for data declared `matrix`, on either side of `@`,"
        " transposed or multiplied by a number. Feature maps, sums with other matrices, slices, `inner`, arguments of sets and functions, and"
        " promises such as `in nonnegative` need the entries.",
        "prob.bind(A=fw.operator(L))    # minimize sum(squared(standardize(A) @ x, b))",
        "prob.bind(A=fw.operator(L))    # minimize sum(squared(A @ x, b))",
    ),
    "FW4529": Entry(
        "a stated norm that is too small",
        "`norm=` states that |A x| is at most so many times |x|, for every x. A vector was found that refutes it.",
        "fw.operator(L, norm=1)    # |A| is 2",
        "fw.operator(L, norm=2)",
    ),
    "FW4530": Entry(
        "entries that the fit has not seen",
        "New observed entries whose row or column had no entry in the data of the fit have no prediction that rests on anything. They are"
        " left out, and this is a warning that says how many; where none were left it is an error (FW4519).",
        'sol.evaluate("fit", M=(["ann", "zoe"], ["x", "x"], [1.0, 2.0]))    # fitted to entries of "ann" and "bob"',
        'sol.evaluate("fit", M=(["ann", "bob"], ["x", "x"], [1.0, 2.0]))',
    ),
    "FW4531": Entry(
        "columns of the same names in different orders",
        "Two matrices of one program share the dimension of their columns, and their columns have the same names, but in different orders. A"
        " variable along this dimension would meet another column in each of them.",
        'problem.bind(X=frame[["age", "size"]], Z=other[["size", "age"]])    # data X: matrix[n, p], Z: matrix[m, p]',
        'problem.bind(X=frame[["age", "size"]], Z=other[["age", "size"]])',
    ),
}
