"""The general method: restarted primal-dual hybrid gradient, with large proximal steps on the pieces that were identified."""
