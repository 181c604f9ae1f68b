from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

FORMS = [np.asarray, np.asfortranarray, sp.csr_array]
RNG = np.random.default_rng(3)
G = RNG.standard_normal((30, 20))


@pytest.mark.parametrize("form", FORMS)
def test_nonnegative_is_checked_and_the_entry_located(bound, found, form):
    text = "data A: matrix[n, d] in nonnegative"
    good = np.abs(G)
    assert bound(text, A=form(good)).values["A"].shape == (30, 20)
    good[17, 3] = -0.5
    (d,) = found(text, A=form(good))
    assert (d.code, d.message) == ("FW4516", "`A[17, 3]` is `-0.5`, but `A` is declared `in nonnegative`")


def test_negative_numbers_are_fine_without_the_promise(bound):
    assert bound("data A: matrix[n, d]", A=G).values["A"] is G


def test_a_nonnegative_tensor(found):
    tensor = np.ones((2, 3, 4))
    tensor[1, 2, 3] = -1.0
    (d,) = found("data A: tensor[n, d, e] in nonnegative", A=tensor)
    assert d.message.startswith("`A[1, 2, 3]` is `-1.0`")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["symmetric", "psd"])
def test_symmetry_is_checked_and_the_entry_located(bound, found, form, kind):
    gram = G.T @ G
    gram = (gram + gram.T) / 2
    assert bound(f"data P: {kind}[d]", P=form(gram)).dims == {"d": 20}
    gram[2, 5] += 1.0
    (d,) = found(f"data P: {kind}[d]", P=form(gram))
    assert d.code == "FW4517"
    assert d.message.startswith("`P[2, 5]` is `") and "`P[5, 2]` is" in d.message
    assert f"declared `{kind}[d]`" in d.message


def test_rounding_is_no_asymmetry(bound):
    gram = G.T @ G
    gram[3, 4] *= 1 + 1e-15
    assert bound("data P: symmetric[d]", P=gram).values["P"] is gram


def test_a_large_matrix_is_compared_with_its_transpose_block_by_block(found):
    large = np.zeros((700, 700))
    large[650, 20] = 1.0
    (d,) = found("data P: symmetric[d]", P=large)
    assert d.message.startswith("`P[20, 650]` is `0` and `P[650, 20]` is `1`")


@pytest.mark.parametrize("form", FORMS)
def test_a_negative_eigenvalue_is_found(found, form):
    (d,) = found("data P: psd[d]", P=form(np.array([[1.0, 2.0], [2.0, 1.0]])))
    assert (d.code, d.message) == ("FW4518", "`P` is declared `psd`, but has a negative eigenvalue, -1")


@pytest.mark.parametrize("form", FORMS)
def test_a_symmetric_matrix_may_be_indefinite(bound, form):
    assert bound("data P: symmetric[d]", P=form(np.array([[1.0, 2.0], [2.0, 1.0]]))).dims == {"d": 2}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_semidefinite_matrices_of_any_rank_and_scale(bound, form, scale):
    thin = RNG.standard_normal((12, 3))
    low = thin @ thin.T
    low = scale * (low + low.T) / 2
    for matrix in (low, np.zeros((4, 4)), scale * np.eye(3)):
        assert bound("data P: psd[d]", P=form(matrix)).dims["d"] == len(matrix)


def test_sparse_matrices_that_are_not_diagonally_dominant(bound, found):
    path = sp.diags_array([np.full(199, -1.0), np.full(200, 2.0), np.full(199, -1.0)], offsets=[-1, 0, 1])
    fourth = sp.csr_array(path @ path)  # positive definite, and far from dominant
    assert bound("data P: psd[d]", P=fourth).dims == {"d": 200}
    smallest = float(np.linalg.eigvalsh(fourth.toarray())[0])
    (d,) = found("data P: psd[d]", P=sp.csr_array(fourth - 1.5 * smallest * sp.eye_array(200)))
    assert d.code == "FW4518"
    (d,) = found("data P: psd[d]", P=sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    assert d.code == "FW4518"


def test_each_block_of_a_family_keeps_the_promise(bound, found):
    blocks = np.stack([np.eye(2), np.ones((2, 2))])
    assert bound("data F: family[m] of psd[d]", F=blocks).dims == {"m": 2, "d": 2}
    blocks[1] = [[1, 2], [2, 1]]
    (d,) = found("data F: family[m] of psd[d]", F=blocks)
    assert d.code == "FW4518"


def test_a_matrix_that_is_not_square_is_told_once(found):
    assert [d.code for d in found("data P: psd[d]", P=np.ones((2, 3)))] == ["FW4506"]
