"""What no memory holds is refused before it is filled, by every way to draw."""

import pytest

import unbraid as ub
from tests.facts import facts


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("shapes-xy", "sample"),
        ("isometric", "sample"),
        ("product-manifold", "sample"),
        ("shapes-xy", "sample_pairs"),
        ("gin-mixture", "sample_conditional"),
        ("nonstationary", "sample_conditional"),
    ],
)
def test_more_than_the_memory_holds_is_refused_with_a_way_out(name, draw):
    with pytest.raises(ValueError, match=facts("GiB", "dataset.blocks")):
        getattr(ub.datasets.load(name), draw)(10**11, random_state=0)
