
BscaleJb0񊽻�*