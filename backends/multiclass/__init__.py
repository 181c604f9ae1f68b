"""Mirror methods for losses of several classes on l1 balls: the saddle point over a product of simplices (Babichev, Ostrovskii, Bach 2019)."""
