// Which part of a checkpoint goes into which variable, as the graph's own nodes say that restore
// them: an assignment of what a RestoreV2 reads. Names need not say it: those of variables may be
// the same, or others than the checkpoint's, and a variable may be a part of a larger one.
#include "x2ir/formats/tensorflow/body_internal.h"

namespace x2ir::tf_format {
namespace {

constexpr int kMaxIdentities = 8;  // between what is read and where it goes

using Restored = absl::flat_hash_map<const NodeProto*, Place>;

class Finder {
 public:
  // `args`: which node of the caller each argument of the body is.
  Finder(const Library& library, const Body& body, std::vector<Ref> args, const Ref& file,
         Restored* restored)
      : library_(library), body_(body), args_(std::move(args)), file_(file), restored_(*restored) {}

  void Find() {
    for (const NodeProto& node : body_.nodes()) {
      if (node.op != "Assign" && node.op != "AssignVariableOp") continue;
      if (node.inputs.size() < 2) continue;
      const NodeProto* variable = Outer(node.inputs[0]).node;
      const std::optional<Ref> value = Trace(node.inputs[1]);
      if (!variable || !IsVariable(variable->op) || !value || !value->node) continue;
      const std::optional<Place> place = PlaceOf(*value);
      if (!place) continue;
      const auto [it, fresh] = restored_.emplace(variable, *place);
      if (!fresh && (it->second.key != place->key || it->second.slice != place->slice)) {
        it->second = {};
      }
    }
  }

 private:
  // The node of a name, through identities.
  std::optional<Ref> Trace(std::string_view input) const {
    for (int i = 0; i <= kMaxIdentities; ++i) {
      const absl::StatusOr<Ref> ref = body_.Resolve(input);
      if (!ref.ok()) return std::nullopt;
      if (!ref->node || ref->node->op != "Identity" || ref->node->inputs.empty()) return *ref;
      input = ref->node->inputs[0];
    }
    return std::nullopt;
  }

  // The same in the caller; of no node where there is nothing.
  Ref Outer(std::string_view input) const {
    const std::optional<Ref> ref = Trace(input);
    if (!ref) return {};
    if (ref->node) return *ref;
    return ref->index < static_cast<int64_t>(args_.size()) ? args_[ref->index] : Ref{};
  }

  std::optional<Place> PlaceOf(const Ref& value) {
    if (value.node->op != "RestoreV2" || value.node->inputs.size() < 3) return std::nullopt;
    const Ref file = Outer(value.node->inputs[0]);
    if (file.node != file_.node || file.index != file_.index) return std::nullopt;
    const std::vector<std::string>* keys = Strings(value.node->inputs[1]);
    const std::vector<std::string>* slices = Strings(value.node->inputs[2]);
    const auto i = static_cast<size_t>(value.index);
    if (!keys || !slices || keys->size() != slices->size() || i >= keys->size() ||
        (*keys)[i].empty()) {
      return std::nullopt;
    }
    return Place{(*keys)[i], (*slices)[i]};
  }

  // Of a constant, which is read once; they stay where they are when the map grows.
  const std::vector<std::string>* Strings(std::string_view input) {
    const std::optional<Ref> ref = Trace(input);
    if (!ref || !ref->node || ref->node->op != "Const") return nullptr;
    const auto [it, fresh] = constants_.try_emplace(ref->node);
    if (fresh) {
      const absl::StatusOr<AttrProto> attr = ReadAttr(library_.source(), ref->node->attr("value"));
      if (const Tensor* tensor = attr.ok() ? attr->value.get<Tensor>() : nullptr)
        it->second = *tensor;
    }
    return it->second.is_string() ? &it->second.strings() : nullptr;
  }

  const Library& library_;
  const Body& body_;
  const std::vector<Ref> args_;
  const Ref file_;
  Restored& restored_;
  absl::flat_hash_map<const NodeProto*, Tensor> constants_;
};

}  // namespace

Restored FindRestored(Library& library, const Body& body, std::string_view name,
                      std::string_view restore) {
  Restored restored;
  const absl::StatusOr<Ref> file = body.Resolve(name);
  if (!file.ok()) return restored;
  Finder(library, body, {}, *file, &restored).Find();
  // Since TensorFlow 2 a function does it.
  const absl::StatusOr<Ref> call = body.Resolve(restore);
  const FunctionProto* function = call.ok() ? library.Called(*call->node) : nullptr;
  if (!function) return restored;
  std::vector<Ref> args;
  for (const std::string_view input : call->node->inputs) {
    if (input.starts_with('^')) continue;
    args.push_back(body.Resolve(input).value_or(Ref{}));
  }
  Body callee(library, function->nodes, function, 0);
  if (callee.Index().ok()) Finder(library, callee, std::move(args), *file, &restored).Find();
  return restored;
}

}  // namespace x2ir::tf_format
