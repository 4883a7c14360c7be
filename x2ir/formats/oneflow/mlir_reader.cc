// Reads model.mlir.
#include <complex>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/oneflow/mlir_internal.h"
#include "x2ir/formats/oneflow/reader_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace oneflow {
namespace {

constexpr std::string_view kPrefix = "oneflow.";

absl::StatusOr<std::vector<int64_t>> IntsOf(const MlirAttr& attr) {
  std::vector<int64_t> ints;
  if (attr.kind != MlirAttr::kArray) return Invalid("expected integers");
  for (const MlirAttr& item : attr.items) {
    if (item.kind != MlirAttr::kInt) return Invalid("expected integers");
    ints.push_back(item.i);
  }
  return ints;
}

// Of the kind that the text has: of attributes that the table does not know.
absl::StatusOr<Attribute> AsItIs(const MlirAttr& attr) {
  switch (attr.kind) {
    case MlirAttr::kUnit: return Attribute(int64_t{1});
    case MlirAttr::kBool:
    case MlirAttr::kInt: return Attribute(attr.i);
    case MlirAttr::kFloat: return Attribute(attr.f);
    case MlirAttr::kString: return Attribute(attr.s);
    case MlirAttr::kOther: return Unimplemented("what it is");
    case MlirAttr::kArray: break;
  }
  if (attr.items.empty() || attr.items[0].kind == MlirAttr::kInt) {
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> ints, IntsOf(attr));
    return Attribute(std::move(ints));
  }
  std::vector<std::string> strings;
  Attribute::Floats floats;
  for (const MlirAttr& item : attr.items) {
    if (item.kind == MlirAttr::kString) strings.push_back(item.s);
    if (item.kind == MlirAttr::kFloat) floats.push_back(static_cast<float>(item.f));
  }
  if (strings.size() == attr.items.size()) return Attribute(std::move(strings));
  if (floats.size() == attr.items.size()) return Attribute(std::move(floats));
  return Unimplemented("what it is");
}

absl::StatusOr<std::string> NameOfDType(const MlirAttr& attr) {
  if (attr.kind != MlirAttr::kInt) return Invalid("expected an element type");
  const DType dtype = ToDType(attr.i);
  if (dtype == DType::kUndefined) return Unimplemented("element type ", DataTypeName(attr.i));
  return std::string(Name(dtype));
}

absl::StatusOr<Attribute> AttributeOf(const MlirAttr& attr, AttrType type) {
  switch (type) {
    case AttrType::kInt32:
    case AttrType::kInt64:
    case AttrType::kBool:
      if (attr.kind == MlirAttr::kInt || attr.kind == MlirAttr::kBool) return Attribute(attr.i);
      return Invalid("expected an integer");
    case AttrType::kFloat:
    case AttrType::kDouble: {
      if (attr.kind != MlirAttr::kFloat && attr.kind != MlirAttr::kInt) {
        return Invalid("expected a number");
      }
      const double number = attr.kind == MlirAttr::kInt ? static_cast<double>(attr.i) : attr.f;
      if (type == AttrType::kFloat) return Attribute(static_cast<float>(number));
      return Attribute(number);
    }
    case AttrType::kString:
    case AttrType::kBytes:
      if (attr.kind == MlirAttr::kString) return Attribute(attr.s);
      return Invalid("expected a string");
    case AttrType::kDataType: {
      X2IR_ASSIGN_OR_RETURN(std::string name, NameOfDType(attr));
      return Attribute(std::move(name));
    }
    case AttrType::kMemoryFormat: return Attribute(MemoryFormatName(attr.i));
    case AttrType::kShape:
    case AttrType::kInt32s:
    case AttrType::kInt64s: {
      X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> ints, IntsOf(attr));
      return Attribute(std::move(ints));
    }
    default: break;
  }
  if (attr.kind != MlirAttr::kArray) return Invalid("expected a list");
  if (type == AttrType::kComplex) {
    if (attr.items.size() != 2) return Invalid("expected a complex number");
    return Attribute(Tensor::Scalar(std::complex<double>(attr.items[0].f, attr.items[1].f)));
  }
  std::vector<std::string> strings;
  Attribute::Floats floats;
  for (const MlirAttr& item : attr.items) {
    if (type == AttrType::kFloats) {
      if (item.kind != MlirAttr::kFloat) return Invalid("expected floats");
      floats.push_back(static_cast<float>(item.f));
    } else if (type == AttrType::kStrings) {
      if (item.kind != MlirAttr::kString) return Invalid("expected strings");
      strings.push_back(item.s);
    } else if (type == AttrType::kDataTypes) {
      X2IR_ASSIGN_OR_RETURN(strings.emplace_back(), NameOfDType(item));
    } else {
      X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, IntsOf(item));
      strings.push_back(absl::StrJoin(dims, ","));
    }
  }
  if (type == AttrType::kFloats) return Attribute(std::move(floats));
  return Attribute(std::move(strings));
}

std::string StringAttr(const MlirOp& op, std::string_view name) {
  const MlirAttr* attr = op.Find(name);
  return attr && attr->kind == MlirAttr::kString ? attr->s : std::string();
}

// The number of operands or results of each name, from the op or as far as it can be derived.
absl::StatusOr<std::vector<int64_t>> Counts(const MlirOp& op, std::string_view attr,
                                            const std::vector<OperandSpec>& names, size_t given) {
  if (const MlirAttr* said = op.Find(attr)) return IntsOf(*said);
  return GuessCounts(names, given, attr == kSegments ? "operands" : "results");
}

absl::Status ReadAttrs(const MlirOp& op, const OpSpec* spec, AttributeMap* attrs) {
  for (const auto& [name, value] : op.attrs) {
    const AttrSpec* known = spec ? spec->FindAttr(name) : nullptr;
    if (!known && (IsSystemAttr(name) || name == "nd_sbp")) continue;
    absl::StatusOr<Attribute> attr = known ? AttributeOf(value, known->type) : AsItIs(value);
    if (!attr.ok()) return Annotate(attr.status(), StrCat("attribute '", name, "'"));
    attrs->Set(name, *std::move(attr));
  }
  return absl::OkStatus();
}

// The sizes of a type, where all are known.
std::optional<std::vector<int64_t>> StaticDims(const Type& type) {
  return type.shape() ? type.shape()->Static() : std::nullopt;
}

// Shape and element type of an input or a variable.
absl::Status ReadTypeAttrs(const MlirOp& op, RawOp* raw) {
  const MlirAttr* shape = op.Find("shape");
  const MlirAttr* type = op.Find("data_type");
  if (shape && type && type->kind == MlirAttr::kInt) {
    raw->dtype = ToDType(type->i);
    X2IR_ASSIGN_OR_RETURN(raw->dims, IntsOf(*shape));
    return absl::OkStatus();
  }
  const std::optional<std::vector<int64_t>> dims = StaticDims(op.types[0].type);
  if (!dims) return Invalid("its shape is missing");
  raw->dtype = op.types[0].type.dtype();
  raw->dims = *dims;
  return absl::OkStatus();
}

absl::StatusOr<RawOp> RawOpOf(const MlirOp& op) {
  RawOp raw;
  raw.type = op.name.starts_with(kPrefix) ? op.name.substr(kPrefix.size()) : op.name;
  raw.name = StringAttr(op, "op_name");
  const MlirAttr* lbns = op.Find("output_lbns");
  const auto result = [&](size_t i) -> RawResult {
    std::string name = op.results[i].substr(1);
    if (lbns && i < lbns->items.size() && !lbns->items[i].s.empty()) name = lbns->items[i].s;
    return {op.results[i], std::move(name), op.types[i].maybe_bool ? Type() : op.types[i].type};
  };
  const bool variable = raw.type == "variable", input = raw.type == "input";
  if (variable || input || raw.type == "output") {
    if (op.results.size() != 1) return Invalid("expected one result");
    if (raw.name.empty()) raw.name = op.results[0].substr(1);
    if (!variable) raw.operands = op.operands;
    if (variable || input) X2IR_RETURN_IF_ERROR(ReadTypeAttrs(op, &raw));
    raw.results.push_back(result(0));
    return raw;
  }
  const OpSpec* spec = FindOp(raw.type);
  X2IR_RETURN_IF_ERROR(ReadAttrs(op, spec, &raw.attrs));
  std::vector<int64_t> results(op.results.size(), 1);
  if (spec) {
    X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> operands,
                          Counts(op, kSegments, spec->inputs, op.operands.size()));
    X2IR_ASSIGN_OR_RETURN(raw.operands,
                          PlaceOperands(*spec, op.operands, std::move(operands), &raw.attrs));
    X2IR_ASSIGN_OR_RETURN(results,
                          Counts(op, "result_segment_sizes", spec->outputs, op.results.size()));
  } else {
    raw.operands = op.operands;
  }
  size_t next = 0;
  for (const int64_t count : results) {
    if (count < 0 || count > static_cast<int64_t>(op.results.size() - next)) {
      return Invalid("the sizes of its result groups do not match its results");
    }
    if (count == 0) raw.results.emplace_back();
    for (int64_t k = 0; k < count; ++k) raw.results.push_back(result(next++));
  }
  if (next != op.results.size())
    return Invalid("the sizes of its result groups do not match its results");
  return raw;
}

absl::StatusOr<const MlirJob*> FindJob(const std::vector<MlirJob>& jobs, const std::string& name) {
  std::vector<std::string> names;
  for (const MlirJob& job : jobs) {
    if (!name.empty() && job.name == name) return &job;
    names.push_back(job.name);
  }
  if (jobs.empty()) return Invalid("the module has no job");
  if (name.empty() && jobs.size() == 1) return &jobs[0];
  return OptionError(
      "job", name.empty() ? "there is more than one job" : StrCat("there is no job '", name, "'"),
      "; the jobs are ", absl::StrJoin(names, ", "));
}

}  // namespace
}  // namespace oneflow

absl::StatusOr<Model> ReadOneflowMlir(const Source& source, const OneflowReadOptions& options) {
  using namespace oneflow;  // NOLINT: what the format's parts are called
  BlobPtr file;
  if (source.is_folder()) {
    X2IR_ASSIGN_OR_RETURN(
        file, Blob::Open((std::filesystem::path(source.name()) / "model.mlir").string()));
  } else {
    X2IR_ASSIGN_OR_RETURN(file, source.Open());
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<MlirJob> jobs, ParseMlir(file->view()));
  X2IR_ASSIGN_OR_RETURN(const MlirJob* job, FindJob(jobs, options.job));
  std::vector<RawOp> ops;
  for (const MlirOp& op : job->ops) {
    absl::StatusOr<RawOp> raw = RawOpOf(op);
    if (!raw.ok()) {
      return Annotate(raw.status(), StrCat(op.name, " '", StringAttr(op, "op_name"), "'"));
    }
    ops.push_back(*std::move(raw));
  }
  // Inputs are the arguments, in their order: the op of type "input" that takes one, or, where
  // there is none, the argument itself.
  absl::flat_hash_map<std::string_view, size_t> takers;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].type != "input") continue;
    if (ops[i].operands.size() != 1 || !takers.emplace(ops[i].operands[0], i).second) {
      return Invalid("input '", ops[i].name, "' does not have exactly one argument of the job");
    }
  }
  std::vector<RawOp> all;
  for (const auto& [name, type] : job->arguments) {
    if (const auto it = takers.find(name); it != takers.end()) {
      all.push_back(ops[it->second]);
      all.back().operands.clear();
      takers.erase(it);
      continue;
    }
    const std::optional<std::vector<int64_t>> dims = StaticDims(type.type);
    if (!dims) return Invalid("argument '", name, "' has no shape");
    all.push_back({.type = "input",
                   .name = name.substr(1),
                   .operands = {},
                   .results = {{.key = name, .name = name.substr(1)}},
                   .dtype = type.type.dtype(),
                   .dims = *dims});
  }
  if (!takers.empty()) {
    return Invalid("input '", ops[takers.begin()->second].name, "' is not an argument of the job");
  }
  for (RawOp& op : ops) {
    if (op.type != "input") all.push_back(std::move(op));
  }
  Variables variables(source, options.snapshot);
  return MakeModel(all, job->returns, job->name, variables);
}

bool LooksLikeOneflowMlir(absl::Span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.find("oneflow.job") != text.npos || text.find("\"oneflow.") != text.npos;
}

bool IsOneflowFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path) / "model.mlir", error);
}

}  // namespace x2ir
