"""The methods: each takes a canonical problem and improves a primal-dual pair."""
