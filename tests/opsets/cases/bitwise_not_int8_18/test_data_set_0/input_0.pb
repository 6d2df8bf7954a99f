J
WbOZ&A_3S