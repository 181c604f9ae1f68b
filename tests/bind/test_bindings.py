from fwdsl.bind import Bindings, bind_python
from fwdsl.readers.sources import SourceSpec

FILE = SourceSpec("npy", "X.npy")


def test_nothing_is_given_by_default():
    assert Bindings() == Bindings({}, (), {}, {})
    assert bind_python(X=1, delta=2.0) == Bindings({"X": 1, "delta": 2.0})


def test_merge_keeps_what_the_other_does_not_give():
    first = Bindings({"A": 1}, ((("X",), FILE),), {"mu": 1.0}, {"k": 2})
    second = Bindings({"b": 2}, (), {"delta": 3.0}, {"m": 4})
    merged = first.merge(second)
    assert merged == Bindings({"A": 1, "b": 2}, ((("X",), FILE),), {"mu": 1.0, "delta": 3.0}, {"k": 2, "m": 4})
    assert first == Bindings({"A": 1}, ((("X",), FILE),), {"mu": 1.0}, {"k": 2})


def test_in_a_merge_the_other_wins_however_it_gives_a_name():
    assert Bindings({"X": 1}).merge(Bindings(sources=((("X",), FILE),))) == Bindings({}, ((("X",), FILE),))
    assert Bindings(params={"mu": 1.0}).merge(bind_python(mu=2.0)) == Bindings({"mu": 2.0})
    assert bind_python(mu=2.0).merge(Bindings(params={"mu": 1.0})) == Bindings(params={"mu": 1.0})
    assert Bindings(dims={"k": 2}).merge(Bindings(dims={"k": 3})).dims == {"k": 3}
