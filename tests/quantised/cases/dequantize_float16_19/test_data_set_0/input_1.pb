
BscaleJä*+°0R,