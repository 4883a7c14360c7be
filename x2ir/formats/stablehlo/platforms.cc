#include "x2ir/formats/stablehlo/platforms.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

// Makes the first argument of a function a constant.
absl::Status FixFirstArgument(mlir::Module& module, mlir::Op& function, int64_t value) {
  mlir::Block& block = function.regions[0].blocks[0];
  const mlir::TypeRef type = block.arguments.empty() ? nullptr : module.type(block.arguments[0]);
  const DType dtype = type != nullptr ? type->type.dtype() : DType::kUndefined;
  const Shape* shape = type != nullptr ? type->type.shape() : nullptr;
  if (!IsInteger(dtype) || shape == nullptr || shape->rank() != 0) {
    return Invalid("the first argument of 'main' is not the number of a platform");
  }
  mlir::Op constant;
  constant.name = "stablehlo.constant";
  constant.results.push_back(block.arguments[0]);
  mlir::Attr element;
  element.kind = mlir::Attr::kTensor;
  element.type = type;
  element.tensor = Tensor::ScalarOf(dtype, static_cast<double>(value));
  constant.attrs.emplace_back("value", std::move(element));
  block.ops.insert(block.ops.begin(), std::move(constant));
  block.arguments.erase(block.arguments.begin());
  for (auto& [name, attr] : function.attrs) {
    if (name == "function_type" && attr.type != nullptr && attr.type->num_arguments != 0) {
      auto made = std::make_shared<mlir::MlirType>(*attr.type);
      made->items.erase(made->items.begin());
      --made->num_arguments;
      attr.type = std::move(made);
    } else if (name == "arg_attrs" && !attr.items.empty()) {
      attr.items.erase(attr.items.begin());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<mlir::Op*> MainOf(mlir::Module& module) {
  for (mlir::Region& region : module.top.regions) {
    for (mlir::Block& block : region.blocks) {
      for (mlir::Op& op : block.ops) {
        const mlir::Attr* name = op.name == "func.func" ? op.Find("sym_name") : nullptr;
        const bool has_body = !op.regions.empty() && !op.regions[0].blocks.empty();
        if (name != nullptr && name->s == "main" && has_body) return &op;
      }
    }
  }
  return Invalid("the module has no function 'main'");
}

absl::Status ChoosePlatform(mlir::Module& module, mlir::Op& main,
                            const std::vector<std::string>& platforms) {
  if (platforms.size() < 2) return absl::OkStatus();
  const auto cpu = std::find_if(
      platforms.begin(), platforms.end(),
      [](const std::string& platform) { return absl::EqualsIgnoreCase(platform, "cpu"); });
  return FixFirstArgument(module, main, cpu == platforms.end() ? 0 : cpu - platforms.begin());
}

}  // namespace stablehlo
}  // namespace x2ir
