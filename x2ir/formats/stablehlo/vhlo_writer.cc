// The flat form to VHLO of a release.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/formats/stablehlo/vhlo_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

using mlir::Attr;
using mlir::AttrFact;
using mlir::AttrList;
using mlir::Form;
using mlir::MlirType;
using mlir::Op;

constexpr size_t kMostProblems = 20;  // that a message lists

std::string ReleaseText(int release) {
  return StrCat(release / 10000, ".", release / 100 % 100, ".", release % 100);
}

// "add" of "stablehlo.add"; "" if VHLO has no operation of that dialect.
std::string_view BaseOfFlat(std::string_view name) {
  if (name == "func.func" || name == "func.call" || name == "func.return") return name.substr(5);
  return name.starts_with("stablehlo.") ? name.substr(10) : std::string_view();
}

// Operations of CHLO that MHLO has as well. VHLO says them as calls of MHLO's, whose attributes are
// a dictionary; XLA reads such calls as the operations.
struct MhloOp {
  std::string_view chlo, target;
  std::string_view attribute = {};  // the only one that it may have
  std::string_view flag = {};       // of MHLO's alone, and true
};
constexpr MhloOp kMhloOps[] = {
    {"chlo.acos", "mhlo.acos"},
    {"chlo.acosh", "mhlo.acosh"},
    {"chlo.asin", "mhlo.asin"},
    {"chlo.asinh", "mhlo.asinh"},
    {"chlo.atanh", "mhlo.atanh"},
    {"chlo.cosh", "mhlo.cosh"},
    {"chlo.erf", "mhlo.erf"},
    {"chlo.sinh", "mhlo.sinh"},
    {"chlo.top_k", "mhlo.topk", "k", "largest"},
};

const MhloOp* FindMhloOp(std::string_view name) {
  const auto found = std::find_if(std::begin(kMhloOps), std::end(kMhloOps),
                                  [&](const MhloOp& each) { return each.chlo == name; });
  return found == std::end(kMhloOps) ? nullptr : found;
}

class VhloMaker {
 public:
  VhloMaker(mlir::Module& module, const Version& version)
      : module_(module), release_(version[0] * 10000 + version[1] * 100 + version[2]) {}

  absl::Status Run() {
    for (const mlir::ModuleValue& value : module_.values) {
      if (value.type != nullptr) CheckType(*value.type, 0);
    }
    Convert(module_.top);
    if (problems_.empty()) return absl::OkStatus();
    std::vector<std::string> list(problems_.begin(), problems_.end());
    const size_t more = list.size() > kMostProblems ? list.size() - kMostProblems : 0;
    if (more != 0) list.resize(kMostProblems);
    return CannotExpress("StableHLO ", ReleaseText(release_),
                         " cannot say: ", absl::StrJoin(list, "; "),
                         more ? StrCat("; and ", more, " more") : "");
  }

 private:
  template <typename... Args>
  void Problem(const Args&... args) {
    problems_.insert(StrCat(args...));
  }

  void Convert(Op& op) {
    for (mlir::Region& region : op.regions) {
      for (mlir::Block& block : region.blocks) {
        for (Op& inner : block.ops) Convert(inner);
      }
    }
    if (op.name == "builtin.module") return;
    if (const MhloOp* mhlo = FindMhloOp(op.name.view())) CallMhlo(*mhlo, op);
    const std::string_view base = BaseOfFlat(op.name);
    const auto forms = base.empty() ? std::vector<const mlir::OpFact*>() : FormsOf(base);
    if (forms.empty()) return Problem("operation '", op.name.view(), "'");
    const auto form = std::find_if(forms.begin(), forms.end(), [&](const mlir::OpFact* each) {
      return each->since <= release_ && release_ <= each->until;
    });
    if (form == forms.end() && base == "composite" && op.regions.empty()) {
      CallDecomposition(op);
      return Convert(op);
    }
    if (form == forms.end()) {
      return Problem("'", op.name.view(), "' (", ReleaseText(forms[0]->since), " has it)");
    }
    const mlir::OpFact& newest = *forms.back();
    if ((*form)->operands >= 0 && static_cast<size_t>((*form)->operands) != op.operands.size()) {
      Problem("'", op.name.view(), "' of ", op.operands.size(), " operands",
              newest.operands < 0 && *form != &newest
                  ? StrCat(" (", ReleaseText(newest.since), " has it)")
                  : "");
    }
    if (base == "composite" && *form != &newest && !op.regions.empty()) {
      Problem("'", op.name.view(), "' with regions (", ReleaseText(newest.since), " has it)");
    }
    Attributes(**form, newest, base, op);
    op.name = (*form)->name;
  }

  // Releases without composites have calls.
  static void CallDecomposition(Op& op) {
    const Attr* decomposition = op.Find("decomposition");
    Attr callee = decomposition == nullptr ? Attr() : *decomposition;
    op.name = "func.call";
    op.attrs.clear();
    op.attrs.emplace_back("callee", std::move(callee));
  }

  void CallMhlo(const MhloOp& mhlo, Op& op) {
    Attr attributes;
    attributes.kind = Attr::kDict;
    for (auto& [name, attr] : op.attrs) {
      if (name.view() != mhlo.attribute) {
        Problem("'", mhlo.chlo, "' with attribute '", name.view(), "'");
        continue;
      }
      const bool has_type = attr.kind != Attr::kInt || attr.type != nullptr;
      attributes.fields.emplace_back(name, has_type ? std::move(attr) : IntAttr(attr.i, "i64"));
    }
    if (!mhlo.flag.empty()) attributes.fields.emplace_back(mhlo.flag, BoolAttr(true));
    op.name = "stablehlo.custom_call";
    op.attrs.clear();
    op.attrs.emplace_back("call_target_name", StringAttr(Attr::kString, std::string(mhlo.target)));
    op.attrs.emplace_back("mhlo.attributes", std::move(attributes));
    op.attrs.emplace_back("mhlo.version", IntAttr(1, "i64"));
  }

  void Attributes(const mlir::OpFact& form, const mlir::OpFact& newest, std::string_view base,
                  Op& op) {
    GatherAccuracy(newest, op);
    AttrList attrs;
    for (const AttrFact& fact : form.attributes) {
      const Attr* given = Given(op, fact.name);
      std::optional<Attr> value;
      if (given != nullptr) {
        value = ToForm(fact, *given, op);
      } else if (!(value = DefaultOf(module_, op, base, fact))) {
        Problem("'", op.name.view(), "' without attribute '", fact.name, "'");
      }
      if (value) attrs.emplace_back(fact.name, *std::move(value));
    }
    for (auto& [name, attr] : op.attrs) {
      if (FindAttr(form, name) != nullptr) continue;
      if (name == "handle" || name == "type") continue;  // of a channel: see Given
      if (const AttrFact* fact = FindAttr(newest, name)) {
        const std::optional<Attr> usual = DefaultOf(module_, op, base, *fact);
        const std::optional<Attr> value = ToForm(*fact, attr, op);
        if (value && !(usual && SameMeaning(*value, *usual))) {
          Problem("'", op.name.view(), "' with attribute '", name.view(), "' (",
                  ReleaseText(newest.since), " has it)");
        }
      } else if (name.view().find('.') != std::string_view::npos) {
        attrs.emplace_back(name, std::move(attr));
      } else {
        Problem("'", op.name.view(), "' with attribute '", name.view(), "'");
      }
    }
    for (const auto& [name, attr] : attrs) CheckAttr(attr, 0);
    op.attrs = std::move(attrs);
  }

  // A graph has the fields of the struct as attributes.
  static void GatherAccuracy(const mlir::OpFact& newest, Op& op) {
    if (FindAttr(newest, "result_accuracy") == nullptr || op.Find("mode") == nullptr) return;
    Attr accuracy;
    accuracy.kind = Attr::kStruct;
    accuracy.name = "stablehlo.result_accuracy";
    for (const char* name : {"atol", "rtol", "ulps", "mode"}) {
      const auto at = std::find_if(op.attrs.begin(), op.attrs.end(),
                                   [&](const auto& attr) { return attr.first == name; });
      if (at == op.attrs.end()) continue;
      Attr field = std::move(at->second);
      if (field.kind == Attr::kString) field = Enum(name, field.s);
      accuracy.fields.emplace_back(name, std::move(field));
      op.attrs.erase(at);
    }
    op.attrs.emplace_back("result_accuracy", std::move(accuracy));
  }

  // The struct of a channel has other names for what VHLO says in pieces.
  static const Attr* Given(const Op& op, std::string_view name) {
    if (const Attr* attr = op.Find(name)) return attr;
    if (name == "channel_id") return op.Find("handle");
    if (name == "channel_type") return op.Find("type");
    return nullptr;
  }

  std::optional<Attr> ToForm(const AttrFact& fact, Attr attr, const Op& op) {
    if (IsNone(attr) && fact.optional) return attr;
    const auto refuse = [&]() -> std::optional<Attr> {
      Problem("attribute '", fact.name, "' of '", op.name.view(), "' in this form");
      return std::nullopt;
    };
    const bool is_number = attr.kind == Attr::kInt || attr.kind == Attr::kBool;
    const bool is_list =
        fact.form == Form::kEnums || fact.form == Form::kSymbols || fact.form == Form::kArray;
    if (is_list && attr.kind == Attr::kInts && attr.s.empty()) {  // "[]", or plain integers
      attr.kind = Attr::kArray;
      for (const int64_t i : attr.ints) attr.items.push_back(IntAttr(i, "i64"));
    }
    switch (fact.form) {
      case Form::kInt64:
      case Form::kInt32: {
        if (!is_number) return refuse();
        const std::string_view usual = fact.form == Form::kInt64 ? "i64" : "i32";
        if (attr.type == nullptr || attr.kind == Attr::kBool) return IntAttr(attr.i, usual);
        return attr;
      }
      case Form::kFloat32:
        if (attr.kind != Attr::kFloat) return refuse();
        if (attr.type == nullptr) attr.type = IntAttr(0, "f32").type;
        return attr;
      case Form::kBool:
      case Form::kUnit:
        if (attr.kind != Attr::kUnit && !is_number) return refuse();
        return BoolAttr(attr.kind == Attr::kUnit || attr.i != 0);
      case Form::kInts:
      case Form::kBools: {
        const auto ints = mlir::IntsOf(attr);
        if (!ints) return refuse();
        return IntsAttr(*ints, fact.form == Form::kInts ? "i64" : "i1");
      }
      case Form::kTensor:
        if (attr.kind == Attr::kTensor) return attr;
        // Pairs, row by row.
        if (attr.kind != Attr::kInts || attr.ints.size() % 2 != 0) return refuse();
        return Matrix(attr.ints, attr.ints.size() / 2, 2);
      case Form::kString:
      case Form::kSymbol:
        if (attr.kind != Attr::kString && attr.kind != Attr::kSymbol) return refuse();
        attr.kind = Attr::kString;
        return attr;
      case Form::kEnum:
        if (attr.kind != Attr::kString && attr.kind != Attr::kEnum) return refuse();
        return Enum(fact.name, attr.s);
      case Form::kEnums:
      case Form::kSymbols:
        if (attr.kind != Attr::kArray) return refuse();
        for (Attr& item : attr.items) {
          if (fact.form == Form::kEnums) item = Enum(fact.name, item.s);
          if (fact.form == Form::kSymbols) item.kind = Attr::kString;
        }
        return attr;
      case Form::kApiVersion: {
        const absl::Span<const mlir::EnumCase> cases =
            mlir::AttrByName("vhlo", "api_version")->cases;
        for (const mlir::EnumCase& c : cases) {
          if (is_number ? c.number == attr.i : c.name == attr.s) return Enum(fact.name, c.name);
        }
        return refuse();
      }
      case Form::kType: return attr.kind == Attr::kType ? std::optional(attr) : refuse();
      case Form::kDict: return attr.kind == Attr::kDict ? std::optional(attr) : refuse();
      case Form::kArray:
        if (attr.kind != Attr::kArray) return refuse();
        // Dictionaries that say nothing about any argument.
        if (fact.name.ends_with("_attrs") &&
            std::all_of(attr.items.begin(), attr.items.end(),
                        [](const Attr& item) { return item.fields.empty(); })) {
          attr.items.clear();
        }
        return attr;
      case Form::kOther:
        if (attr.kind == Attr::kInts && fact.name == "replica_groups") {
          if (attr.ints.size() != 1) return refuse();
          return Matrix(attr.ints, 1, 1);
        }
        // Tolerances are doubles, whatever a graph knows of them.
        for (auto& [name, field] : attr.fields) {
          if (field.kind == Attr::kFloat) field.type = nullptr;
        }
        return attr;
    }
    return refuse();
  }

  static Attr Enum(std::string_view attribute, std::string_view text) {
    Attr attr = StringAttr(Attr::kEnum, std::string(text));
    attr.name = EnumOf(attribute);
    return attr;
  }

  static Attr Matrix(const std::vector<int64_t>& values, size_t rows, size_t columns) {
    Attr attr;
    attr.kind = Attr::kTensor;
    attr.tensor = Tensor::Of<int64_t>({static_cast<int64_t>(rows), static_cast<int64_t>(columns)},
                                      absl::MakeConstSpan(values));
    attr.type = mlir::TensorType(attr.tensor.type());
    return attr;
  }

  void CheckAttr(const Attr& attr, int depth) {
    if (depth > 100) return Problem("attributes nested this deep");
    if (attr.type != nullptr) CheckType(*attr.type, depth);
    if (attr.kind == Attr::kStruct || attr.kind == Attr::kEnum) {
      const auto coded = mlir::AttrByName("vhlo", attr.name.substr(attr.name.find('.') + 1));
      if (!coded) Problem("attribute '", attr.name, "'");
      if (coded && coded->since > release_) {
        Problem("attribute '", attr.name, "' (", ReleaseText(coded->since), " has it)");
      }
    } else if (attr.kind == Attr::kUnit) {
      Problem("a unit attribute");
    } else if (attr.kind == Attr::kOther) {
      Problem("attribute ", attr.s);
    }
    for (const Attr& item : attr.items) CheckAttr(item, depth + 1);
    for (const auto& [name, field] : attr.fields) CheckAttr(field, depth + 1);
  }

  void CheckName(std::string_view name) {
    const auto coded = mlir::TypeByName("vhlo", name);
    if (!coded) return Problem("type ", name);
    if (coded->since > release_) {
      Problem("type ", name, " (", ReleaseText(coded->since), " has it)");
    }
  }

  void CheckType(const MlirType& type, int depth) {
    if (depth > 100) return Problem("types nested this deep");
    for (const mlir::TypeRef& item : type.items) CheckType(*item, depth + 1);
    if (type.quantization != nullptr) {
      if (!type.quantization->block_sizes.empty() || type.quantization->axes.size() > 1) {
        Problem("quantized types with blocks");
      }
      return CheckName(type.quantization->axes.empty() ? "quant" : "quant_per_axis");
    }
    switch (type.kind) {
      case MlirType::kTensor:
      case MlirType::kScalar: {
        std::string_view name =
            type.text.empty() ? mlir::ElementName(type.type.dtype()) : std::string_view(type.text);
        if (name.starts_with("complex<")) name = name.substr(8, name.size() - 9);
        return CheckName(name);
      }
      case MlirType::kOther:
        if (type.text == "!stablehlo.future") return CheckName("future");
        if (type.text.starts_with("memref<")) return CheckName("buffer");
        if (type.text == "!shape.witness") return CheckName("witness");
        return Problem("type ", type.text);
      default: return;
    }
  }

  mlir::Module& module_;
  const int release_;
  std::set<std::string> problems_;
};

}  // namespace

absl::Status ToVhlo(mlir::Module& module, Version version) {
  if (version < kOldestVersion || version > kNewestVersion) {
    return Invalid("StableHLO ", version[0], ".", version[1], ".", version[2],
                   " is not written: ", mlir::KnownReleases(), " are");
  }
  return VhloMaker(module, version).Run();
}

}  // namespace stablehlo
}  // namespace x2ir
