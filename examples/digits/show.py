"""Prints 8x8 images and the digit that the network gives the highest probability.

    python3 examples/digits/show.py images.npy probability.npy "7 1 4 2 9"

The last argument lists the labels, which are the correct digits. Exits with 1 if a prediction
differs from its label.
"""
import sys

import numpy as np

SHADES = " .:-=+*#%@"


def main():
    images, probability = np.load(sys.argv[1]), np.load(sys.argv[2])
    labels = [int(label) for label in sys.argv[3].split()]
    shades = np.minimum((images[:, 0] * len(SHADES)).astype(int), len(SHADES) - 1)
    for row in range(shades.shape[1]):
        print("   ".join("".join(2 * SHADES[s] for s in image[row]) for image in shades))
    predicted = probability.argmax(axis=1)
    notes = [f"predicted {p} ({100 * row[p]:.0f} %)" for p, row in zip(predicted, probability)]
    print("   ".join(note.ljust(2 * images.shape[3]) for note in notes))
    if list(predicted) != labels:
        sys.exit(f"the labels are {labels}")


if __name__ == "__main__":
    main()
