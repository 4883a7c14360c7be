#include <utility>

#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/oneflow/mlir_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::oneflow {
namespace {

MlirAttr IntOf(int64_t value) { return {.kind = MlirAttr::kInt, .i = value}; }

MlirAttr JobAttr(const mlir::Attr& attr) {
  using mlir::Attr;
  MlirAttr list{.kind = MlirAttr::kArray};
  switch (attr.kind) {
    case Attr::kUnit: return {};
    case Attr::kBool: return {.kind = MlirAttr::kBool, .i = attr.i};
    case Attr::kInt: return IntOf(attr.i);
    case Attr::kFloat: return {.kind = MlirAttr::kFloat, .f = attr.f};
    case Attr::kString:
    case Attr::kSymbol: return {.kind = MlirAttr::kString, .s = attr.s};
    case Attr::kInts:
      for (const int64_t i : attr.ints) list.items.push_back(IntOf(i));
      return list;
    case Attr::kFloats:
      for (const double f : attr.floats) list.items.push_back({.kind = MlirAttr::kFloat, .f = f});
      return list;
    case Attr::kArray:
      for (const Attr& item : attr.items) list.items.push_back(JobAttr(item));
      return list;
    case Attr::kTensor:  // a list of sizes or numbers
      if (attr.splat || attr.tensor.rank() != 1) break;
      for (int64_t i = 0; i < attr.tensor.num_elements(); ++i) {
        list.items.push_back(IsFloating(attr.tensor.dtype())
                                 ? MlirAttr{.kind = MlirAttr::kFloat, .f = attr.tensor.AsDouble(i)}
                                 : IntOf(attr.tensor.AsInt(i)));
      }
      return list;
    default: break;
  }
  return {.kind = MlirAttr::kOther};
}

class MlirJobReader {
 public:
  explicit MlirJobReader(const mlir::Module& module) : module_(module) {}

  absl::StatusOr<MlirJob> Read(const mlir::Op& function) const {
    MlirJob job;
    if (const mlir::Attr* name = function.Find("sym_name")) job.name = name->s;
    if (function.regions.empty() || function.regions[0].blocks.empty()) {
      return Invalid("job '", job.name, "' has no body");
    }
    const mlir::Block& block = function.regions[0].blocks[0];
    for (const mlir::ValueId id : block.arguments) {
      job.arguments.emplace_back(Name(id), TypeOf(id));
    }
    for (const mlir::Op& op : block.ops) {
      if (op.name == "func.return") {
        for (const mlir::ValueId id : op.operands) job.returns.push_back(Name(id));
        continue;
      }
      if (!op.regions.empty()) {
        return Invalid("'", op.name.view(), "' has a region, which is not supported, in line ",
                       op.line);
      }
      MlirOp& made = job.ops.emplace_back();
      made.name = op.name.str();
      for (const mlir::ValueId id : op.operands) made.operands.push_back(Name(id));
      for (const mlir::ValueId id : op.results) {
        made.results.push_back(Name(id));
        made.types.push_back(TypeOf(id));
      }
      for (const auto& [name, value] : op.attrs) made.attrs.emplace_back(name, JobAttr(value));
    }
    return job;
  }

 private:
  std::string Name(mlir::ValueId id) const {
    const std::string& name = module_.values[static_cast<size_t>(id)].name;
    return name.empty() ? StrCat("%", id, ".unnamed") : StrCat("%", name);
  }
  MlirType TypeOf(mlir::ValueId id) const {
    const mlir::MlirType& type = *module_.type(id);
    const bool known =
        type.kind == mlir::MlirType::kTensor && type.type.dtype() != DType::kUndefined;
    return known ? MlirType{type.type, type.text == "si8"} : MlirType{};
  }

  const mlir::Module& module_;
};

}  // namespace

const MlirAttr* MlirOp::Find(std::string_view attr) const {
  for (const auto& [name, value] : attrs) {
    if (name == attr) return &value;
  }
  return nullptr;
}

absl::StatusOr<std::vector<MlirJob>> ParseMlir(std::string_view text) {
  X2IR_ASSIGN_OR_RETURN(const mlir::Module module, mlir::ParseText(text));
  std::vector<MlirJob> jobs;
  std::vector<const mlir::Op*> modules = {&module.top};
  while (!modules.empty()) {
    const mlir::Op* outer = modules.back();
    modules.pop_back();
    for (const mlir::Region& region : outer->regions) {
      for (const mlir::Block& block : region.blocks) {
        for (const mlir::Op& op : block.ops) {
          if (op.name == "builtin.module") modules.push_back(&op);
          if (op.name != "oneflow.job" && op.name != "func.func") continue;
          X2IR_ASSIGN_OR_RETURN(jobs.emplace_back(), MlirJobReader(module).Read(op));
        }
      }
    }
  }
  return jobs;
}

}  // namespace x2ir::oneflow
