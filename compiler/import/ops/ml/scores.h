// The scores and labels of ai.onnx.ml's classifiers and regressors.
#pragma once

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

enum class PostTransform : uint8_t { kNone, kLogistic, kSoftmax, kSoftmaxZero, kProbit };

// The attribute post_transform, a string. The node fails if it is unknown.
PostTransform post_transform_of(Node& n);

// The transform of scores [n, classes]. Softmax is over the classes.
Formula transformed(const Formula& scores, PostTransform transform);

// The labels of classes. Exactly one of both lists is used.
struct Labels {
  Ints numbers;
  std::vector<std::string> strings;
  int64_t count() const {
    return static_cast<int64_t>(strings.empty() ? numbers.size() : strings.size());
  }
};
// The labels of the attributes `numbers` and `strings`. The node fails if it has none or both.
Labels labels_of(Node& n, llvm::StringRef numbers, llvm::StringRef strings);
// The label of each index, which is an i64 in [0, number of labels).
Value label_at(Node& n, const Labels& labels, Value indices);
// The index of the greatest score of each row, the first of equal ones.
Value greatest(Node& n, Value scores);
// The greatest score of each row: [n, 1].
Formula greatest_of_row(const Formula& scores);

// The two scores of a binary classifier that computes one, s: [n, 1]. With the transform LOGISTIC,
// they are the logistic functions of -s and s. Other transforms have no effect.
//   kComplement    1 - s and s
//   kOpposite      -s and s
enum class SecondScore : uint8_t { kComplement, kOpposite };
Formula with_second_score(const Formula& score, SecondScore kind, PostTransform transform);

// x as f32, or as f64 if it is one, with rank 2. A vector is one row.
Value rows_of_input(Node& n, Value x);

}  // namespace scopevm::compiler::frontend
