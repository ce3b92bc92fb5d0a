"""A brute-force interpreter of the kernel IR at tiny sizes, which everything else is tested against."""
