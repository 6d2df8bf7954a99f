"""Writes the generated models of the benchmark set to a folder, one .onnx file per model.

    python3 tools/models/generate.py models [NAME...] [--force]

An existing model is regenerated only if it is older than the generators, or with --force.
"""
import argparse
import pathlib

import bert
import convnets
import forest
import gpt2
import half
import lstm
import quantised

MODELS = {
    "mobilenet_v2": convnets.mobilenet_v2,
    "resnet50": convnets.resnet50,
    "bert_2layer": bert.bert_2layer,
    "bert_base": bert.bert_base,
    "lstm_op": lstm.lstm_op,
    "lstm_loop": lstm.lstm_loop,
    "gpt2_decode": gpt2.gpt2_decode,
    "random_forest": forest.random_forest,
    "mobilenet_v2_f16": lambda: half.to_half(convnets.mobilenet_v2()),
    "bert_2layer_f16": lambda: half.to_half(bert.bert_2layer()),
    "gpt2_decode_f16": lambda: half.to_half(gpt2.gpt2_decode()),
    "mobilenet_v2_int8": lambda: quantised.image_network(convnets.mobilenet_v2()),
    "resnet50_int8": lambda: quantised.image_network(convnets.resnet50()),
    "bert_2layer_int8": lambda: quantised.encoder(bert.bert_2layer()),
    "bert_2layer_int8_dynamic": lambda: quantised.to_dynamic(bert.bert_2layer()),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(MODELS))
    parser.add_argument("--force", action="store_true", help="regenerate models that are up to date")
    options = parser.parse_args()
    unknown = set(options.names) - set(MODELS)
    if unknown:
        parser.error(f"unknown model: {', '.join(sorted(unknown))}; expected {', '.join(MODELS)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    sources = pathlib.Path(__file__).parent.glob("*.py")
    newest = max(source.stat().st_mtime for source in sources if source.name != "describe.py")
    for name in options.names or MODELS:
        path = options.folder / f"{name}.onnx"
        if path.exists() and path.stat().st_mtime >= newest and not options.force:
            print(f"{path}: up to date")
            continue
        partial = path.with_suffix(".partial")
        partial.write_bytes(MODELS[name]().SerializeToString(deterministic=True))
        partial.rename(path)
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
