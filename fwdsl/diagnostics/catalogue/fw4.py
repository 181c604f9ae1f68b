"""FW4nnn: data."""

from __future__ import annotations

from .entry import Entry

ENTRIES: dict[str, Entry] = {
    "FW4001": Entry(
        "a file that does not exist",
        "Paths in a program are relative to the program's file, so that it runs from anywhere; paths on the command"
        " line are relative to the current folder. Files of similar names in the same folder are proposed.",
        'data X: matrix[n, p] from npy("data/X.npy")      # the folder has x.npy',
        'data X: matrix[n, p] from npy("data/x.npy")',
    ),
    "FW4002": Entry(
        "not a file",
        "A source is one regular file: not a folder, a device or a pipe, which cannot be read twice or mapped.",
        "fwdsl run lasso.fw --data X,y=libsvm:data/",
        "fwdsl run lasso.fw --data X,y=libsvm:data/train.svm",
    ),
    "FW4003": Entry(
        "a file that cannot be read",
        "The system refused to open or read the file; its reason is in the message. Most often the permissions are"
        " at fault.",
        "fwdsl run lasso.fw --data X,y=/root/train.svm",
        "fwdsl run lasso.fw --data X,y=train.svm",
    ),
    "FW4004": Entry(
        "a file without data",
        "A source holds at least one row. Blank lines, comments and a csv header are no rows.",
        "# train.svm: an empty file, or one of comments only",
        "+1 3:0.5 7:1",
    ),
    "FW4005": Entry(
        "a damaged or wrongly named compressed file",
        "`.gz`, `.bz2` and `.xz` files are decompressed as they are read, and their checksums are checked. A file"
        " that ends too early was most often not copied to its end; one that is not what its suffix says needs"
        " renaming.",
        "train.svm.gz    # a plain text file",
        "train.svm       # a plain text file",
    ),
    "FW4006": Entry(
        "text that is not UTF-8",
        "Text files are read as UTF-8, with or without a byte order mark. The place is the line of the first byte"
        " that is not; its value is given in hexadecimal.",
        "stra\\xdfe,price    # latin-1",
        "straße,price     # UTF-8",
    ),
    "FW4007": Entry(
        "data larger than memory",
        "All formats but plain `.npy` are read into memory. A plain `.npy` file is mapped, and may be larger. Of a sparse matrix one number for"
        " each column must fit as well: an index that is an id, or a slip, makes as many columns as it says.",
        'data A: matrix[n, d] from npy("A.npy.gz")',
        'data A: matrix[n, d] from npy("A.npy")',
    ),
    "FW4010": Entry(
        "a libsvm label that is not one number",
        "Each line of a libsvm file begins with its label, a number. With `multilabel=true` it begins with any"
        " number of labels, separated by commas without spaces.",
        "spam 3:0.5 7:1\n3:1 4:0.2",
        "+1 3:0.5 7:1\n-1 3:1 4:0.2",
    ),
    "FW4011": Entry(
        "not an `index:value` pair",
        "Behind its label, a line of a libsvm file has pairs `index:value`, separated by spaces, with none around"
        " the colon. `qid:7` is allowed behind the label and has no effect; comments stand behind `#`.",
        "+1 3: 0.5 7=1",
        "+1 3:0.5 7:1",
    ),
    "FW4012": Entry(
        "a libsvm index that is not a whole number",
        "The index of a pair counts columns: a whole number in digits, without a sign.",
        "+1 age:31 -2:1",
        "+1 1:31 2:1",
    ),
    "FW4013": Entry(
        "a libsvm index 0",
        "Indices of a libsvm file count from 1. Some programs write them from 0; `base=0` says so.",
        'data X: matrix[n, p], y: signs[n] from libsvm("zero.svm")',
        'data X: matrix[n, p], y: signs[n] from libsvm("zero.svm", base=0)',
    ),
    "FW4014": Entry(
        "a libsvm index beyond the declared columns",
        "The number of columns of a libsvm file is its largest index unless `features=` or an integer in the"
        " declared shape fixes it. Then no index may exceed it: silently dropping columns would change the problem.",
        'data X: matrix[n, 100], y: signs[n] from libsvm("a9a.svm")',
        'data X: matrix[n, 123], y: signs[n] from libsvm("a9a.svm")',
    ),
    "FW4015": Entry(
        "a libsvm index twice in one row",
        "A row has at most one value per column. Indices need not be in order.",
        "+1 3:0.5 3:0.7",
        "+1 3:1.2",
    ),
    "FW4020": Entry(
        "a value that is not a number",
        "Values in text files are decimal numbers with a point: `0.5`, `-3`, `1e-3`. A decimal comma, a thousands"
        " separator, a unit or a word is not read as one; columns of words are left out with `columns=`, or are"
        " labels.",
        "size,price\n120,1 500 EUR",
        "size,price\n120,1500",
    ),
    "FW4021": Entry(
        "a nan or an infinity",
        "All data must be finite: a single nan makes every objective nan. A number too large for a float, such as"
        " `1e999`, counts as an infinity. Rows and columns count from 1; in text files the row is the line.",
        "size,price\n120,nan",
        "size,price\n120,1500",
    ),
    "FW4022": Entry(
        "a ragged csv line",
        "All lines of a csv file have as many fields as its first. Commas inside a text need quotes around it, and"
        " decimals need a point.",
        "size,price\n120,1500\n80",
        "size,price\n120,1500\n80,1100",
    ),
    "FW4023": Entry(
        "an empty csv field",
        "A missing value is not taken for zero. Fill it in, remove the row, or leave the column out with `columns=`.",
        "size,price\n120,",
        "size,price\n120,1500",
    ),
    "FW4030": Entry(
        "a source that cannot serve these names",
        "A `from` serves the names declared since the previous one. A libsvm file holds one matrix and one column"
        " of labels; a csv file one matrix and columns; npy and mtx files one array; an npz file any number of"
        " them.",
        'data A: matrix[n, d], b: vector[n] from npy("A.npy")',
        'data A: matrix[n, d] from npy("A.npy"), b: vector[n] from npy("b.npy")',
    ),
    "FW4031": Entry(
        "a csv source that does not say which column",
        "A vector or labels take the column that `target=` names, the one of their own name in the header, or the"
        " only one of the file. A matrix takes the columns listed in `columns=`, or all others.",
        'data X: matrix[n, p], y: vector[n] from csv("housing.csv")',
        'data X: matrix[n, p], y: vector[n] from csv("housing.csv", target="price")',
    ),
    "FW4032": Entry(
        "a column that is not there",
        "`target=` and `columns=` name columns of the header, or give positions from 0 (negative ones from the"
        " end). A name must occur once; without a header there are only positions. New data that an earlier fit is put"
        " to, a file with a header or a frame in Python, need all columns of the fit by name, in any order, and each once.",
        'data y: vector[n] from csv("housing.csv", target="prize")',
        'data y: vector[n] from csv("housing.csv", target="price")',
    ),
    "FW4033": Entry(
        "a csv header of numbers",
        "The first line of a csv file names its columns unless `header=false` says otherwise. A first line of"
        " numbers only is probably a row that would be lost, hence this warning.",
        'data A: matrix[n, d] from csv("numbers.csv")',
        'data A: matrix[n, d] from csv("numbers.csv", header=false)',
    ),
    "FW4034": Entry(
        "a csv file without commas",
        "Fields are separated by commas. Files with semicolons or tabs, often with decimal commas, have to be"
        " written again.",
        "size;price\n120;1500,50",
        "size,price\n120,1500.50",
    ),
    "FW4035": Entry(
        "broken csv quoting",
        "A field that holds commas, quotes or line breaks stands in double quotes, and quotes inside it are doubled"
        " (RFC 4180). The header stands on one line.",
        'name,price\n"a "large" one,3',
        'name,price\n"a ""large"" one",3',
    ),
    "FW4040": Entry(
        "not an npy file",
        "An npy file begins with a header that tells the type and shape of its numbers. Pickles and text files do"
        " not, whatever their suffix.",
        'pickle.dump(A, open("A.npy", "wb"))',
        'numpy.save("A.npy", A)',
    ),
    "FW4041": Entry(
        "an array of Python objects",
        "Arrays of objects are stored as pickles, and unpickling runs code that the file brings: it is never done."
        " Such arrays mostly come from rows of different lengths, or from numbers mixed with words.",
        'numpy.save("A.npy", numpy.array([[1, 2], [3]], dtype=object))',
        'numpy.save("A.npy", numpy.array([[1, 2], [3, 4]], dtype=float))',
    ),
    "FW4042": Entry(
        "an array cut short",
        "The header of an array promises more numbers than there are: the file was not written or copied to its end.",
        "head -c 1000 A.npy > B.npy",
        "cp A.npy B.npy",
    ),
    "FW4043": Entry(
        "not an npz archive",
        "An npz file is a zip archive of npy files, as `numpy.savez` writes it, without a password.",
        "tar cf arrays.npz A.npy b.npy",
        'numpy.savez("arrays.npz", A=A, b=b)',
    ),
    "FW4044": Entry(
        "an array that does not hold real numbers",
        "Data are floats of at most 64 bits, integers or booleans; labels may also be text. Complex numbers, dates,"
        " records and long doubles have to be converted first; sparse matrices in npz files are `csr` or `csc`.",
        'numpy.save("A.npy", A.astype(complex))',
        'numpy.save("A.npy", A.real)',
    ),
    "FW4045": Entry(
        "an npz key that is not there",
        "A name is served from the array of the same name in an npz file, or from the one that `key=` names. The"
        " message lists the arrays that the file holds.",
        'data A: matrix[n, d] from npz("arrays.npz", key="a")',
        'data A: matrix[n, d] from npz("arrays.npz", key="A")',
    ),
    "FW4050": Entry(
        "signs that are not of two values",
        "Data declared `signs` has exactly two distinct values, of any kind; the smaller stands for -1 and the"
        " larger for +1. More values are classes, declared `labels[n, k]`. The place is that of the rarest value,"
        " most likely a slip.",
        'data X: matrix[n, p], y: signs[n] from libsvm("dna.svm")       # classes 1, 2, 3',
        'data X: matrix[n, p], y: labels[n, k] from libsvm("dna.svm")',
    ),
    "FW4060": Entry(
        "not a Matrix Market file",
        "An mtx file begins with `%%MatrixMarket matrix`, its form (`coordinate` or `array`), its field (`real`,"
        " `integer` or `pattern`) and its symmetry (`general`, `symmetric` or `skew-symmetric`).",
        "2 2 1\n1 1 0.5",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5",
    ),
    "FW4061": Entry(
        "a Matrix Market entry of the wrong form",
        "A coordinate file has `row column value` on each line (`row column` if it is a pattern), an array file one"
        " value.",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5",
    ),
    "FW4062": Entry(
        "more or fewer Matrix Market entries than promised",
        "The size line tells how many entries follow; a file with fewer was most often cut short.",
        "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0.5",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5",
    ),
    "FW4063": Entry(
        "a Matrix Market entry outside the matrix",
        "Rows and columns count from 1 to the sizes in the size line. A symmetric file lists only what is on and"
        " below the diagonal, a skew-symmetric one only what is below it.",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 0.5",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5",
    ),
    "FW4064": Entry(
        "a broken Matrix Market size line",
        "Behind the first line and the comments stands one line with the sizes: `rows columns entries` of a"
        " coordinate file, `rows columns` of an array file. A symmetric matrix is square.",
        "%%MatrixMarket matrix array real general\n2\n0.5\n1.5",
        "%%MatrixMarket matrix array real general\n2 1\n0.5\n1.5",
    ),
    "FW4065": Entry(
        "a Matrix Market file that is not of real numbers",
        "Fields `real`, `integer` and `pattern` (ones) are read, with symmetries `general`, `symmetric` and"
        " `skew-symmetric`; complex and hermitian matrices have no place in a problem over the reals.",
        "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 2 0",
        "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 2",
    ),
    "FW4500": Entry(
        "a name given that the program does not declare",
        "`--data`, `--set`, `--dim` and `bind` give values to what a program declares. A name that it does not declare"
        " is most often misspelt; the message proposes the nearest one that can be given in the same way.",
        "fwdsl run lasso.fw --set labmda=0.1",
        "fwdsl run lasso.fw --set lambda=0.1",
    ),
    "FW4501": Entry(
        "data without a value",
        "Data that have neither a `from` nor a literal are given when the program is run: a file with `--data` on the"
        " command line, an array with `bind` in Python. Each datum that is missing is named, with what was given.",
        "fwdsl run lasso.fw    # the program says `data A: matrix[n, d], b: vector[n]`",
        "fwdsl run lasso.fw --data A=A.npy --data b=b.npy",
    ),
    "FW4502": Entry(
        "a parameter without a value",
        "A parameter that has no default in the program is given when it is run, with `--set` on the command line or"
        " `bind` in Python.",
        "fwdsl run lasso.fw    # the program says `param mu: nonnegative`",
        "fwdsl run lasso.fw --set mu=0.1",
    ),
    "FW4503": Entry(
        "a name given as another kind of thing than it is",
        "Data are given with `--data`, parameters with `--set` and dimensions with `--dim`. Python's `bind` takes all"
        " three.",
        "fwdsl run lasso.fw --data mu=0.1    # `mu` is a parameter",
        "fwdsl run lasso.fw --set mu=0.1",
    ),
    "FW4504": Entry(
        "a value that is not made of real numbers",
        "Data are arrays of real numbers: NumPy arrays, memory maps, nested lists, SciPy's sparse arrays and matrices,"
        " and whatever converts itself to an array. Complex numbers, text, dates and Python objects are refused, as are"
        " rows of different lengths. Labels and signs may also be words, but of one kind, since they are sorted.",
        "prob.bind(X=spectrum)    # an array of complex numbers",
        "prob.bind(X=numpy.abs(spectrum))",
    ),
    "FW4505": Entry(
        "data of another form than their type",
        "A vector has one axis, a matrix two, a tensor as many as its type has dimensions. A vector may be given as a"
        " single column, of shape (n, 1). Only matrices may be sparse, and no dimension is 0.",
        "prob.bind(X=numpy.ones(5))    # `data X: matrix[n, p]`",
        "prob.bind(X=numpy.ones((5, 1)))",
    ),
    "FW4506": Entry(
        "a dimension of two sizes",
        "A dimension's name stands for one size, wherever it occurs: in `X: matrix[n, p], y: signs[n]`, `y` has as many"
        " entries as `X` has rows. The message names both data and both sizes. A libsvm file whose last columns are all"
        " zero does not tell how many there are; `features=` does.",
        "prob.bind(X=X_train, y=y_test)",
        "prob.bind(X=X_train, y=y_train)",
    ),
    "FW4507": Entry(
        "data that do not have the size that the program gives as a number",
        "A dimension written as a number is fixed: data of any other size do not belong to the program. For"
        " `labels[n, k]` it is the number of distinct labels.",
        'data X: matrix[n, 784] from npy("X.npy")    # the array has 785 columns',
        'data X: matrix[n, p] from npy("X.npy")',
    ),
    "FW4508": Entry(
        "a dimension that nothing binds",
        "A dimension gets its size from the data declared with it: `labels[n, k]` binds the number of classes `k`,"
        " `index[n] of T` the number `T` of what it addresses. A dimension of variables alone is given with `--dim`.",
        "fwdsl run factor.fw    # the program says `var U: matrix[n, k]`, and no data has `k`",
        "fwdsl run factor.fw --dim k=5",
    ),
    "FW4509": Entry(
        "a size that is not a whole number",
        "A dimension is a whole number, at least 1.",
        "prob.bind(k=2.5)",
        "prob.bind(k=2)",
    ),
    "FW4511": Entry(
        "a scalar outside its domain",
        "The value of a scalar is finite and lies in the domain that it is declared with: `positive` is greater than 0,"
        " `nonnegative` is 0 or greater, `count` is a whole number from 1. Defaults are checked like given values.",
        "fwdsl run lasso.fw --set mu=-0.1    # `param mu: nonnegative`",
        "fwdsl run lasso.fw --set mu=0.1",
    ),
    "FW4512": Entry(
        "a scalar that is not one real number",
        "A parameter, or data declared as a scalar, is one real number; an array of one entry is taken as its entry.",
        'prob.bind(mu="0.1")',
        "prob.bind(mu=0.1)",
    ),
    "FW4513": Entry(
        "a default that has no value",
        "A default is a scalar expression of dimensions and parameters, evaluated when these are known. It may turn out"
        " to divide by zero.",
        "param c: nonnegative = 0\nparam mu: nonnegative = 1 / c",
        "param c: positive = 2\nparam mu: nonnegative = 1 / c",
    ),
    "FW4515": Entry(
        "an index that points nowhere",
        "An `index[n] of T` holds whole numbers from 0 to T-1. Where no other data bind `T`, it is the largest number"
        " and one more. Numbers from 1 have to be reduced by 1.",
        "prob.bind(task=[1, 2, 3])    # `task: index[n] of 3`",
        "prob.bind(task=[0, 1, 2])",
    ),
    "FW4516": Entry(
        "a negative entry where the program promises none",
        "`in nonnegative` behind data is a promise that convexity may rest on, of weights for instance. It is checked"
        " when data are bound, and the first entry that breaks it is located.",
        "prob.bind(w=[1, -1, 2])    # `data w: vector[n] in nonnegative`",
        "prob.bind(w=[1, 0, 2])",
    ),
    "FW4517": Entry(
        "a matrix that is not symmetric",
        "Data declared `symmetric[d]` or `psd[d]` equal their transpose, up to rounding: 1e-12 of the largest column's"
        " norm, 1e-6 in single precision. The message names the pair of entries that differs most.",
        "prob.bind(P=[[1, 2], [0, 1]])    # `data P: symmetric[d]`",
        "prob.bind(P=[[1, 1], [1, 1]])",
    ),
    "FW4518": Entry(
        "a matrix with a negative eigenvalue",
        "Data declared `psd[d]` are positive semidefinite; that `quad_form(x, P)` is convex rests on it. It is checked"
        " by a factorisation when data are bound, up to rounding.",
        "prob.bind(P=[[1, 2], [2, 1]])    # eigenvalues 3 and -1",
        "prob.bind(P=[[2, 1], [1, 2]])",
    ),
    "FW4521": Entry(
        "a feature map that has no value",
        "How many features `random_binning` has depends on the data, so it is computed when data are bound; what it is computed from"
        " must have a value then.",
        "prob.bind(s=0)    # `param s: nonnegative`, `let Phi = random_binning(X / s, grids=50, gamma=1)`",
        "prob.bind(s=2)",
    ),
    "FW4801": Entry(
        "columns that differ much in scale",
        "The Euclidean norms of two columns that are not zero differ by more than 1e4. Methods then need many more"
        " iterations, and a norm of the coefficients treats the columns unequally. This is a warning: nothing is scaled"
        " unless the program says so.",
        "data X: matrix[n, p]    # one column in metres, another in micrometres",
        "data X: matrix[n, p]\nlet Z = standardize(X)",
    ),
    "FW4802": Entry(
        "single precision with a tight tolerance",
        "float32 data carry about seven digits, and are used as they are. A tolerance below 1e-6 is met for exactly these"
        " numbers, which says less about those that they were rounded from. This is a warning.",
        "prob.bind(X=X.astype('float32')).solve(tol=1e-9)",
        "prob.bind(X=X).solve(tol=1e-9)",
    ),
}
