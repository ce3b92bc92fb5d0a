"""The race explorer: findings as one HTML page that shows the threads, the cell, the barriers and the source.

Takes kernel results and the texts they are about, gives a page without any reference to the network. It knows nothing
of the protocol and decides nothing: what an analysis did not see is not drawn.
"""
