// VHLO to the flat form.
#include "x2ir/formats/stablehlo/vhlo.h"

#include <cstdio>
#include <utility>

#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/stablehlo/vhlo_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;
using mlir::AttrFact;
using mlir::AttrList;
using mlir::Form;
using mlir::Op;

// "scatter" of "vhlo.scatter_v2"; "" if it is no name of VHLO.
std::string_view BaseOf(std::string_view name) {
  if (!name.starts_with("vhlo.")) return {};
  name.remove_prefix(5);
  const size_t at = name.rfind("_v");
  return at == name.npos ? std::string_view() : name.substr(0, at);
}

bool IsZero(const Attr& attr) {
  const auto ints = mlir::IntsOf(attr);
  if (!ints) return false;
  for (const int64_t i : *ints) {
    if (i != 0) return false;
  }
  return true;
}

// Whether StableHLO says the same by leaving the attribute out.
bool IsLeftOut(const AttrFact& fact, const Op& op, const Attr& attr) {
  if (!fact.optional) return false;
  if (IsNone(attr)) return true;
  switch (attr.kind) {
    case Attr::kBool: return fact.form == Form::kUnit && attr.i == 0;
    case Attr::kInt:
      return fact.name == "channel_id" && attr.i == 0 && op.Find("channel_type") == nullptr;
    case Attr::kString: return attr.s.empty();
    case Attr::kArray: return attr.items.empty();
    case Attr::kDict: return attr.fields.empty() && fact.name != "backend_config";
    case Attr::kInts: return attr.ints.empty();
    case Attr::kTensor: return attr.tensor.num_elements() == 0;
    default: return false;
  }
}

absl::Status ToForm(const AttrFact& fact, Attr& attr) {
  switch (fact.form) {
    case Form::kInts:
    case Form::kBools: {
      const auto ints = mlir::IntsOf(attr);
      if (!ints) return Invalid("attribute '", fact.name, "' is no list of integers");
      attr = IntsAttr(*ints, fact.form == Form::kInts ? "i64" : "i1");
      return absl::OkStatus();
    }
    case Form::kUnit:
      if (attr.kind == Attr::kBool && attr.i != 0) attr = Attr();
      return absl::OkStatus();
    case Form::kSymbol:
      if (attr.kind == Attr::kString) attr.kind = Attr::kSymbol;
      return absl::OkStatus();
    case Form::kSymbols:
      for (Attr& item : attr.items) {
        if (item.kind == Attr::kString) item.kind = Attr::kSymbol;
      }
      return absl::OkStatus();
    case Form::kApiVersion: {
      const auto coded = mlir::AttrByName("vhlo", "api_version");
      for (const mlir::EnumCase& c : coded->cases) {
        if (attr.kind == Attr::kEnum && c.name == attr.s) {
          attr = IntAttr(c.number, "i32");
          break;
        }
      }
      return absl::OkStatus();
    }
    default: return absl::OkStatus();
  }
}

class FlatMaker {
 public:
  explicit FlatMaker(mlir::Module& module) : module_(module) {}

  absl::Status Flatten(Op& op, bool in_function) {
    const std::string_view base = BaseOf(op.name);
    const bool is_function = base == "func";
    for (mlir::Region& region : op.regions) {
      for (mlir::Block& block : region.blocks) {
        for (Op& inner : block.ops) X2IR_RETURN_IF_ERROR(Flatten(inner, is_function));
      }
    }
    if (!op.name.view().starts_with("vhlo.")) return absl::OkStatus();
    const mlir::OpFact* fact = mlir::FindOp(op.name);
    if (fact == nullptr) {
      return Unimplemented("operation '", op.name.view(), "' is not known (producer '",
                           module_.producer, "'); artifacts of StableHLO ", mlir::KnownReleases(),
                           " are read");
    }
    X2IR_RETURN_IF_ERROR(Annotate(Attributes(*fact, base, op), op.name));
    if (base == "func" || base == "call" || (base == "return" && in_function)) {
      op.name = StrCat("func.", base);
    } else {
      op.name = StrCat("stablehlo.", base);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Attributes(const mlir::OpFact& fact, std::string_view base, Op& op) {
    const mlir::OpFact& newest = *FormsOf(base).back();
    AttrList attrs;
    for (auto& [name, attr] : op.attrs) {
      const AttrFact* known = FindAttr(fact, name);
      if (known == nullptr) {  // of other dialects: "mhlo.sharding"
        attrs.emplace_back(name, std::move(attr));
        continue;
      }
      if (FindAttr(newest, name) == nullptr) {
        if (!IsZero(attr)) return Unimplemented("attribute '", name.view(), "' is not zero");
        continue;
      }
      if (IsLeftOut(*known, op, attr)) continue;
      X2IR_RETURN_IF_ERROR(ToForm(*known, attr));
      if (!IsLeftOut(*known, op, attr)) attrs.emplace_back(name, std::move(attr));
    }
    for (const AttrFact& each : newest.attributes) {
      // An older form's lack of it means the default, which is left out where that can be.
      if (FindAttr(fact, each.name) != nullptr || each.optional) continue;
      std::optional<Attr> value = DefaultOf(module_, op, base, each);
      if (!value) return Invalid("attribute '", each.name, "' is missing");
      attrs.emplace_back(each.name, *std::move(value));
    }
    op.attrs = std::move(attrs);
    return absl::OkStatus();
  }

  mlir::Module& module_;
};

}  // namespace

absl::StatusOr<Version> ParseVersion(std::string_view text) {
  Version version{};
  char rest = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%5d.%5d.%5d%c", &version[0], &version[1], &version[2], &rest) !=
      3) {
    return Invalid("'", text, "' is no version of StableHLO, such as 1.9.0");
  }
  if (version < kOldestVersion || version > kNewestVersion) {
    return Invalid("version ", text, " of StableHLO is not known: ", mlir::KnownReleases(), " are");
  }
  return version;
}

int BytecodeVersion(const Version& version) {
  return mlir::BytecodeVersionOf(version[0] * 10000 + version[1] * 100 + version[2]);
}

std::string ProducerName(const Version& version) {
  return StrCat("StableHLO_v", version[0], ".", version[1], ".", version[2]);
}

absl::Status FromVhlo(mlir::Module& module) {
  return FlatMaker(module).Flatten(module.top, /*in_function=*/false);
}

absl::StatusOr<mlir::Module> ReadArtifact(const BlobPtr& blob) {
  X2IR_ASSIGN_OR_RETURN(mlir::Module module, mlir::ReadBytecode(blob));
  X2IR_RETURN_IF_ERROR(FromVhlo(module));
  return module;
}

absl::Status WriteArtifact(mlir::Module module, const Version& version, const Sink& sink) {
  X2IR_RETURN_IF_ERROR(ToVhlo(module, version));
  return mlir::WriteBytecode(module, {BytecodeVersion(version), ProducerName(version)}, sink);
}

}  // namespace stablehlo
}  // namespace x2ir
