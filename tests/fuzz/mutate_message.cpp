// Chooses a field with protobuf's reflection and changes it; see mutate_message.h.
#include "tests/fuzz/mutate_message.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace scopevm::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Adds `message` and all messages inside it to `all`.
void collect(Message& message, std::vector<Message*>& all) {
  all.push_back(&message);
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      collect(*reflection.MutableMessage(&message, field), all);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      collect(*reflection.MutableRepeatedMessage(&message, field, i), all);
  }
}

class Mutation {
 public:
  Mutation(Message& root, std::mt19937& random) : random_(random) { collect(root, all_); }

  void apply() {
    Message& message = *all_[below(all_.size())];
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    if (fields.empty() || below(8) == 0) {
      // Any field, also one that is not set.
      const int count = message.GetDescriptor()->field_count();
      if (count == 0) return;
      fields = {message.GetDescriptor()->field(static_cast<int>(below(count)))};
    }
    const FieldDescriptor* field = fields[below(fields.size())];
    if (field->is_repeated())
      change_repeated(message, field);
    else if (below(6) == 0)
      reflection.ClearField(&message, field);
    else
      set(message, field, /*index=*/-1);
  }

 private:
  size_t below(size_t count) { return random_() % count; }

  void change_repeated(Message& message, const FieldDescriptor* field) {
    const Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, field);
    const size_t action = below(4);
    if (size == 0 || action == 0) {
      add(message, field);
    } else if (action == 1) {
      reflection.SwapElements(&message, field, static_cast<int>(below(size)), size - 1);
      if (below(2) == 0) reflection.RemoveLast(&message, field);
    } else {
      set(message, field, static_cast<int>(below(size)));
    }
  }

  // Appends an element.
  void add(Message& message, const FieldDescriptor* field) {
    const Reflection& reflection = *message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection.AddMessage(&message, field);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        reflection.AddString(&message, field, "");
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection.AddInt64(&message, field, 0);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        reflection.AddInt32(&message, field, 0);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        reflection.AddUInt64(&message, field, 0);
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        reflection.AddFloat(&message, field, 0);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        reflection.AddDouble(&message, field, 0);
        break;
      default:
        return;  // ONNX has no repeated field of another type
    }
    set(message, field, reflection.FieldSize(message, field) - 1);
  }

  // Sets a field, or its element `index` if that is not negative.
  void set(Message& message, const FieldDescriptor* field, int index) {
    const Reflection& reflection = *message.GetReflection();
#define SCOPEVM_SET(type, value)                            \
  (index < 0 ? reflection.Set##type(&message, field, value) \
             : reflection.SetRepeated##type(&message, field, index, (value)))
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        // A copy, because setting a member of a oneof deletes the other members.
        const std::string copy = similar(field->message_type());
        Message& inner = index < 0 ? *reflection.MutableMessage(&message, field)
                                   : *reflection.MutableRepeatedMessage(&message, field, index);
        inner.ParsePartialFromString(copy);
        return;
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return SCOPEVM_SET(String, string());
      case FieldDescriptor::CPPTYPE_INT64:
        return SCOPEVM_SET(Int64, number());
      case FieldDescriptor::CPPTYPE_INT32:
        return SCOPEVM_SET(Int32, static_cast<int32_t>(number()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return SCOPEVM_SET(UInt64, static_cast<uint64_t>(number()));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return SCOPEVM_SET(Float, static_cast<float>(number()) / 4);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return SCOPEVM_SET(Double, static_cast<double>(number()) / 4);
      case FieldDescriptor::CPPTYPE_ENUM: {
        const EnumDescriptor& values = *field->enum_type();
        const int value = values.value(static_cast<int>(below(values.value_count())))->number();
        return SCOPEVM_SET(EnumValue, value);
      }
      default:
        return;  // ONNX has no field of another type
    }
#undef SCOPEVM_SET
  }

  // A message of the type, in protobuf's format; an empty one if there is none.
  std::string similar(const Descriptor* type) {
    std::vector<const Message*> found;
    for (const Message* message : all_)
      if (message->GetDescriptor() == type) found.push_back(message);
    return found.empty() ? "" : found[below(found.size())]->SerializePartialAsString();
  }

  int64_t number() {
    constexpr int64_t kLimits[] = {
        std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
        std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), int64_t{1} << 40};
    if (below(8) == 0) return kLimits[below(std::size(kLimits))];
    return static_cast<int64_t>(below(24)) - 4;
  }

  // A string of the message, such as the name of a value or an op.
  std::string string() {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const Message& message = *all_[below(all_.size())];
      const Reflection& reflection = *message.GetReflection();
      std::vector<const FieldDescriptor*> fields;
      reflection.ListFields(message, &fields);
      if (fields.empty()) continue;
      const FieldDescriptor* field = fields[below(fields.size())];
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
      if (!field->is_repeated()) return reflection.GetString(message, field);
      const auto index = below(reflection.FieldSize(message, field));
      return reflection.GetRepeatedString(message, field, static_cast<int>(index));
    }
    return std::string(below(4), 'x');
  }

  std::mt19937& random_;
  std::vector<Message*> all_;
};

}  // namespace

void mutate(Message& root, std::mt19937& random) { Mutation(root, random).apply(); }

}  // namespace scopevm::test
