#include "x2ir/core/conversion_options.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "x2ir/core/calibrate.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

// Splits NAME:VALUE at the last colon; neither may be empty.
absl::StatusOr<std::pair<std::string, std::string>> NameAndValue(std::string_view option,
                                                                 const std::string& text,
                                                                 std::string_view form) {
  const size_t at = text.rfind(':');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return OptionError(option, "'", text, "': expected ", form);
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

template <typename Pairs>
absl::Status RefuseTwice(std::string_view option, const Pairs& pairs, const std::string& name) {
  for (const auto& entry : pairs) {
    if (entry.first == name) return OptionError(option, "'", name, "' is given twice");
  }
  return absl::OkStatus();
}

// "NAME:2,3,seq", "NAME:?,3", "NAME:[]" (rank 0). A name may have colons, a shape has none.
absl::Status SetShapes(const OptionValue& value, ConvertOptions& options) {
  constexpr std::string_view kForm =
      "NAME:DIMS, where DIMS are numbers, names or ?, as in x:1,3,seq ([] for rank 0)";
  auto& shapes = options.from.shapes;
  for (const std::string& text : std::get<Strings>(value)) {
    X2IR_ASSIGN_OR_RETURN(auto parts, NameAndValue("shapes", text, kForm));
    auto& [name, dims] = parts;
    X2IR_RETURN_IF_ERROR(RefuseTwice("shapes", shapes, name));
    if (dims.front() == '[' && dims.back() == ']') dims = dims.substr(1, dims.size() - 2);
    const auto type = Type::Parse(StrCat("float32[", dims, "]"));
    if (!type.ok() || !type->is_tensor() || !type->shape()) {
      const bool negative = dims.find('-') != std::string::npos;
      return OptionError("shapes", "'", text, "': expected ", kForm,
                         negative ? "; a dim that is not known is ?" : "");
    }
    for (const Dim& dim : *type->shape()) {
      if (dim.is_static() && dim.value() < 0) {
        return OptionError("shapes", "'", text,
                           "': a dim may not be negative; one that is not known is ?");
      }
    }
    shapes.emplace_back(std::move(name), *type->shape());
  }
  return absl::OkStatus();
}

// "NAME:0=batch,1=seq".
absl::Status SetDynamic(const OptionValue& value, ConvertOptions& options) {
  constexpr std::string_view kForm = "NAME:AXIS=SIZE, as in x:0=batch or x:0=batch,1=seq";
  for (const std::string& text : std::get<Strings>(value)) {
    X2IR_ASSIGN_OR_RETURN(const auto parts, NameAndValue("dynamic", text, kForm));
    X2IR_ASSIGN_OR_RETURN(const OptionValue list,
                          ParseOption({.name = "dynamic", .type = OptionDef::kList}, parts.second));
    for (const std::string& item : std::get<Strings>(list)) {
      const size_t equals = item.find('=');
      const auto axis = ParseNumber<int64_t>(std::string_view(item).substr(0, equals));
      const std::string name = equals == item.npos ? "" : item.substr(equals + 1);
      if (!axis || !Dim::Symbol(name).is_symbolic()) {
        return OptionError("dynamic", "'", text, "': expected ", kForm);
      }
      options.from.dynamic.push_back({parts.first, *axis, name});
    }
  }
  return absl::OkStatus();
}

// "NAME:float16", or "float16" for all that are not named.
absl::Status SetDTypes(const OptionValue& value, ConvertOptions& options) {
  auto& dtypes = options.from.dtypes;
  for (const std::string& text : std::get<Strings>(value)) {
    std::pair<std::string, std::string> parts("", text);
    if (text.find(':') == text.npos) {
      if (!dtypes.empty() && dtypes.front().first.empty()) {
        return OptionError("dtypes", "a type for all inputs is given twice");
      }
    } else {
      X2IR_ASSIGN_OR_RETURN(parts, NameAndValue("dtypes", text, "NAME:TYPE, as in x:float16"));
      X2IR_RETURN_IF_ERROR(RefuseTwice("dtypes", dtypes, parts.first));
    }
    const std::optional<DType> dtype = ParseDType(parts.second);
    if (!dtype || *dtype == DType::kUndefined) {
      return OptionError("dtypes", "'", text, "': there is no element type '", parts.second,
                         "'; expected float32, float16, bfloat16, int64, ..., or NAME:TYPE");
    }
    // A type of one input takes precedence over that of all inputs.
    dtypes.emplace(parts.first.empty() ? dtypes.begin() : dtypes.end(), std::move(parts.first),
                   *dtype);
  }
  return absl::OkStatus();
}

// "A,B..C,D": values to cut at; a side may be empty.
absl::Status SetExtract(const OptionValue& value, ConvertOptions& options) {
  const std::string& text = std::get<std::string>(value);
  const size_t dots = text.find("..");
  if (dots == text.npos || text.size() == 2) {
    return OptionError("extract", "'", text,
                       "': expected FROM..TO, names of values, as in relu_3..softmax, a,b..c, "
                       "or ..conv_5 from the inputs on");
  }
  for (const auto& [part, names, option] :
       {std::tuple(text.substr(0, dots), &options.from.inputs, "inputs"),
        std::tuple(text.substr(dots + 2), &options.from.outputs, "outputs")}) {
    if (part.empty()) continue;
    if (!names->empty()) return OptionError("extract", "excludes ", OptionText(option));
    X2IR_ASSIGN_OR_RETURN(const OptionValue list,
                          ParseOption({.name = "extract", .type = OptionDef::kList}, part));
    *names = std::get<Strings>(list);
  }
  return absl::OkStatus();
}

// Without the backslashes that make a = one of a name: before it, half as many stay.
std::string Unescaped(std::string_view text) {
  std::string out;
  size_t backslashes = 0;
  for (const char c : text) {
    if (c == '\\') {
      ++backslashes;
      continue;
    }
    out.append(c == '=' ? backslashes / 2 : backslashes, '\\');
    out += c;
    backslashes = 0;
  }
  out.append(backslashes, '\\');
  return out;
}

// "a=b", split at the last = that no backslash makes one of a name; nothing where there is none.
std::optional<std::pair<std::string, std::string>> PairOf(std::string_view text) {
  for (size_t at = text.rfind('='); at != text.npos && at > 0; at = text.rfind('=', at - 1)) {
    const size_t name = text.find_last_not_of('\\', at - 1);  // none: all are backslashes
    const size_t backslashes = at - (name == text.npos ? 0 : name + 1);
    if (backslashes % 2 != 0) continue;
    if (at + 1 == text.size()) return std::nullopt;
    std::string old = Unescaped(text.substr(0, at + 1));
    old.pop_back();
    return std::pair(std::move(old), Unescaped(text.substr(at + 1)));
  }
  return std::nullopt;
}

// "a=b", each.
template <auto kMember>
absl::Status SetPairs(std::string_view option, std::string_view form, const OptionValue& value,
                      ConvertOptions& options) {
  for (const std::string& text : std::get<Strings>(value)) {
    auto pair = PairOf(text);
    if (!pair) return OptionError(option, "'", text, "': expected ", form);
    auto& pairs = options.from.*kMember;
    X2IR_RETURN_IF_ERROR(RefuseTwice(option, pairs, pair->first));
    pairs.push_back(*std::move(pair));
  }
  return absl::OkStatus();
}

// "author=Ann": a value may have a = itself, a key has none.
absl::Status SetMetadataPairs(const OptionValue& value, ConvertOptions& options) {
  auto& pairs = options.to.metadata;
  for (const std::string& text : std::get<Strings>(value)) {
    const size_t at = text.find('=');
    if (at == text.npos || at == 0 || at + 1 == text.size() || !IsValidUtf8(text)) {
      return OptionError("metadata", "'", text,
                         "': expected KEY=VALUE, as in author=Ann, in UTF-8");
    }
    X2IR_RETURN_IF_ERROR(RefuseTwice("metadata", pairs, text.substr(0, at)));
    pairs.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  return absl::OkStatus();
}

template <DType kTo>
absl::Status SetNarrowFloats(const OptionValue& value, ConvertOptions& options) {
  if (!std::get<bool>(value)) return absl::OkStatus();
  if (options.to.narrow_floats) {
    return OptionError("bfloat16", "excludes ", OptionText("float16"));
  }
  options.to.narrow_floats = kTo;
  return absl::OkStatus();
}

// An option of int8; int8 precedes it in the table.
template <typename T, auto kMember>
absl::Status SetOfInt8(std::string_view option, const OptionValue& value, ConvertOptions& options) {
  if (!options.to.int8) return OptionError(option, "needs ", OptionText("int8"));
  (*options.to.int8).*kMember = std::get<T>(value);
  return absl::OkStatus();
}

absl::Status CheckPass(const std::string& pass) {
  if (FindPass(pass)) return absl::OkStatus();
  Strings known;
  for (const Pass* each : AllPasses()) known.emplace_back(each->name);
  std::string names;
  for (const std::string& name : known) StrAppend(&names, names.empty() ? "" : ", ", name);
  const std::string meant = DidYouMean(pass, known);
  return OptionError("passes", "there is no pass '", pass, "'",
                     meant.empty() ? StrCat("; expected some of: ", names) : meant);
}

// "A,B": these. "+A,-B": the default ones, with A before the last one, and without B.
absl::Status SetPasses(const OptionValue& value, ConvertOptions& options) {
  const Strings& passes = std::get<Strings>(value);
  const auto is_change = [](const std::string& pass) { return pass[0] == '+' || pass[0] == '-'; };
  const auto changes = std::count_if(passes.begin(), passes.end(), is_change);
  if (changes == 0) {
    for (const std::string& pass : passes) X2IR_RETURN_IF_ERROR(CheckPass(pass));
    options.to.passes = passes;
    return absl::OkStatus();
  }
  if (changes != static_cast<ptrdiff_t>(passes.size())) {
    return OptionError("passes", "expected names of passes, which replace the default ones, ",
                       "or changes of the default ones, as in +fold_scale,-gemm, but not both");
  }
  Strings changed = DefaultPasses();
  for (const std::string& change : passes) {
    const std::string pass = change.substr(1);
    X2IR_RETURN_IF_ERROR(CheckPass(pass));
    const auto at = std::find(changed.begin(), changed.end(), pass);
    if ((change[0] == '-') == (at == changed.end())) {
      return OptionError("passes", "'", change, "': the pass is ",
                         at == changed.end() ? "not among" : "already one of",
                         " the passes that would run");
    }
    if (change[0] == '+') {
      changed.insert(changed.empty() ? changed.end() : changed.end() - 1, pass);
    } else {
      changed.erase(std::remove(changed.begin(), changed.end(), pass), changed.end());
    }
  }
  options.to.passes = std::move(changed);
  return absl::OkStatus();
}

// Options that only set a member.
template <auto kSide, auto kMember>
absl::Status SetMember(const OptionValue& value, ConvertOptions& options) {
  auto& member = (options.*kSide).*kMember;
  using Member = std::decay_t<decltype(member)>;
  if constexpr (std::is_same_v<Member, Strings> || std::is_same_v<Member, std::string>) {
    member = std::get<Member>(value);
  } else {
    member = std::get<bool>(value);
  }
  return absl::OkStatus();
}
constexpr auto kFrom = &ConvertOptions::from;
constexpr auto kTo = &ConvertOptions::to;

const std::vector<ConversionOption>& Table() {
  using Def = OptionDef;
  using Option = ConversionOption;
  constexpr bool kReading = true, kConverting = false;
  constexpr bool kSwitches = true, kNoSwitch = false, kWhole = true;
  static const auto& table = *new std::vector<Option>{
      {{.name = "from_opset",
        .type = Def::kInt,
        .help = "The opset of MODEL, instead of what it says",
        .min = 1,
        .max = std::numeric_limits<int32_t>::max()},
       Option::kImport,
       kReading,
       [](const OptionValue& value, ConvertOptions& options) {
         options.from.from_opset = static_cast<int>(std::get<int64_t>(value));
         return absl::OkStatus();
       }},
      {OptionDef::List("shapes", "NAME:2,3,seq",
                       "The shape of an input: numbers, names, or ? for what is not known"),
       Option::kImport, kReading, SetShapes, kNoSwitch, kWhole},
      {OptionDef::List(
           "dynamic", "NAME:0=batch",
           "An axis of an input whose size may vary, although MODEL has a fixed number there"),
       Option::kImport, kReading, SetDynamic, kNoSwitch, kWhole},
      {OptionDef::List("dtypes", "NAME:TYPE",
                       "The element type of an input; TYPE alone: of all other inputs"),
       Option::kImport, kReading, SetDTypes, kNoSwitch, kWhole},
      {OptionDef::Text("example", "FILE",
                       "An io file of inputs (.safetensors): where MODEL does not say the type of "
                       "an input, as TorchScript never does, it is that of the tensor there"),
       Option::kImport, kReading, SetMember<kFrom, &ImportOptions::example>},
      {OptionDef::List("weights_from", "CHECKPOINT",
                       "Take MODEL's weights, by their names, from model.safetensors, "
                       "model.safetensors.index.json, or the folder of one"),
       Option::kImport, kReading, SetMember<kFrom, &ImportOptions::weights_from>, kNoSwitch,
       kWhole},
      {OptionDef::List("inputs", "A,B", "Cut the graph: these values are its inputs"),
       Option::kImport, kReading, SetMember<kFrom, &ImportOptions::inputs>},
      {OptionDef::List("outputs", "C,D:1",
                       "Cut the graph: these values, or outputs of nodes, are its outputs"),
       Option::kImport, kReading, SetMember<kFrom, &ImportOptions::outputs>},
      {OptionDef::Text(
           "extract", "FROM..TO",
           "Cut the graph: keep the part between these values; the same as --inputs and --outputs"),
       Option::kImport, kReading, SetExtract},
      {OptionDef::List("fold_inputs", "NAME=FILE.npy|NUMBER",
                       "This input becomes a constant: the array in the file, or the number"),
       Option::kImport, kReading,
       [](const OptionValue& value, ConvertOptions& options) {
         return SetPairs<&ImportOptions::fold_inputs>(
             "fold_inputs", "NAME=FILE.npy, as in mask=mask.npy, or NAME=NUMBER", value, options);
       },
       kNoSwitch, kWhole},
      {OptionDef::Flag(
           "freeze_params",
           "Turn initializers that are also inputs into constants (default), or keep them as "
           "inputs with a default value"),
       Option::kImport, kReading, SetMember<kFrom, &ImportOptions::freeze_params>, kSwitches},
      {OptionDef::Flag(
           "keep_functions",
           "Keep MODEL's local functions and their calls, where the format that is written has "
           "functions; by default each call is replaced by the body of its function"),
       Option::kImport, kReading, SetMember<kFrom, &ImportOptions::keep_functions>},

      {OptionDef::List(
           "rename", "NAME=NEW",
           "Another name for an input, an output or any other value; a = in a name is written "
           "\\="),
       Option::kImport, kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         return SetPairs<&ImportOptions::rename>("rename", "NAME=NEW, as in input.1=image", value,
                                                 options);
       },
       kNoSwitch, kWhole},
      {OptionDef::List("foreign", "DOMAIN,...", "Keep ops of these domains that have no mapping"),
       Option::kImport, kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         options.from.foreign.domains = std::get<Strings>(value);
         return absl::OkStatus();
       }},
      {OptionDef::Flag("continue_on_error",
                       "Keep every op that cannot be converted; write every IR op that cannot be "
                       "expressed as an op of domain x2ir, which no runtime supports"),
       Option::kBoth, kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         options.from.foreign.all = options.to.foreign.all = std::get<bool>(value);
         return absl::OkStatus();
       }},
      {OptionDef::Flag(
           "optimize",
           "Run the optimizer's default passes, or none; by default they run unless IR is "
           "written"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::optimize>, kSwitches},
      {OptionDef::List(
           "passes", "A,B,...",
           "Run these passes instead of the default ones; +A: A in addition, -B: without B"),
       Option::kExport, kConverting, SetPasses},
      {OptionDef::Flag(
           "keep_weight_types",
           "Keep weights of float16 and bfloat16 that the graph uses in float32, except for "
           "small ones that passes compute with; by default they become float32 if passes "
           "run, which is exact"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::keep_weight_types>},
      {OptionDef::List(
           "inputs_as_nchw", "A,B",
           "Inputs that are channels last become channels first: NHWC to NCHW, NWC to NCW, "
           "NDHWC to NCDHW"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::inputs_as_nchw>},
      {OptionDef::List(
           "inputs_as_nhwc", "A,B",
           "Inputs that are channels first become channels last: NCHW to NHWC, NCW to NWC, "
           "NCDHW to NDHWC"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::inputs_as_nhwc>},
      {OptionDef::List("outputs_as_nchw", "A,B", "The same for outputs, to channels first"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::outputs_as_nchw>},
      {OptionDef::List("outputs_as_nhwc", "A,B", "The same for outputs, to channels last"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::outputs_as_nhwc>},
      {OptionDef::Flag(
           "float16",
           "Convert weights to float16, half as large; also activations, inputs and outputs "
           "where runtimes of the target compute in float16; ops that need float32 keep it"),
       Option::kExport, kConverting, SetNarrowFloats<DType::kFloat16>},
      {OptionDef::Flag("bfloat16", "As --float16, with bfloat16"), Option::kExport, kConverting,
       SetNarrowFloats<DType::kBFloat16>},
      {OptionDef::Flag("keep_io", "With --float16: inputs and outputs stay float32"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::keep_io>},
      {OptionDef::List("keep", "OP,NODE",
                       "With --float16: these ops, and nodes of these names, stay float32"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::keep>},
      {OptionDef::Flag(
           "int8",
           "Convert weights and activations to int8 where runtimes have kernels for it, with "
           "measured scales; notes list what stays float32 and the errors of the outputs. Of a "
           "checkpoint without --calibrate: weights alone, as --int8-weights"),
       Option::kExport, kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         if (std::get<bool>(value)) options.to.int8.emplace();
         return absl::OkStatus();
       }},
      {OptionDef::List(
           "calibrate", "DIR|FILE",
           "With --int8: inputs to measure scales with: an io file (.safetensors), an .npy "
           "file if the model has one input, or a folder of such files"),
       Option::kExport, kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         return SetOfInt8<Strings, &Int8Request::calibrate>("calibrate", value, options);
       },
       kNoSwitch, kWhole},
      {OptionDef::Flag(
           "per_channel",
           "With --int8: weights have a scale for each channel of the result, not one for "
           "all"),
       Option::kExport, kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         if (!std::get<bool>(value)) return absl::OkStatus();
         return SetOfInt8<bool, &Int8Request::per_channel>("per_channel", value, options);
       }},
      {{.name = "weight_bits",
        .type = Def::kInt,
        .help = "With --int8: weights are from -63 to 63, or from -127 to 127; by default 7 for "
                "ONNX, whose runtime loses sums of products of 8 bits on x86 without VNNI, else 8",
        .placeholder = "7|8",
        .min = 7,
        .max = 8},
       Option::kExport,
       kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         return SetOfInt8<int64_t, &Int8Request::weight_bits>("weight_bits", value, options);
       }},
      {{.name = "method",
        .type = Def::kChoice,
        .help =
            "With --int8: the range of the measured numbers that int8 covers: minmax (all; the "
            "default), percentile (all but one in 10,000), mse (the range with the least error)",
        .placeholder = "METHOD",
        .choices = RangeMethodNames()},
       Option::kExport,
       kConverting,
       [](const OptionValue& value, ConvertOptions& options) {
         return SetOfInt8<std::string, &Int8Request::method>("method", value, options);
       }},
      {OptionDef::List(
           "metadata", "KEY=VALUE",
           "Metadata of the model that is written: ONNX's metadata_props, Core ML's author, "
           "license, version and others"),
       Option::kExport, kConverting, SetMetadataPairs, kNoSwitch, kWhole},
      {OptionDef::Flag(
           "strip_names",
           "Only inputs and outputs keep their names; doc strings and metadata of nodes are "
           "removed"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::strip_names>},
      {OptionDef::Flag(
           "params_as_inputs",
           "Make weights also inputs with default values, so that a runtime can be given "
           "other weights"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::params_as_inputs>},
      {OptionDef::Flag(
           "check",
           "Check MODEL and the result against the schemas of their ops, and ONNX models with "
           "libonnx's checker if it is installed and knows the opset; write nothing if a "
           "check fails"),
       Option::kExport, kConverting, SetMember<kTo, &ExportOptions::check>},
  };
  return table;
}

// What an option excludes, or needs, of the others.
absl::Status CheckTogether(const ConvertOptions& options, const Format* to) {
  const ExportOptions& out = options.to;
  if (options.from.foreign.all && !options.from.foreign.domains.empty()) {
    return OptionError("continue_on_error", "excludes ", OptionText("foreign"));
  }
  if (out.format_options.Has("layout") && !out.optimize.value_or(out.passes.has_value())) {
    return OptionError("layout", "needs ", OptionText("optimize"), ", or ", OptionText("passes"),
                       " with the pass 'layout'");
  }
  for (const auto& [last, first, option, other] :
       {std::tuple(&out.inputs_as_nhwc, &out.inputs_as_nchw, "inputs_as_nhwc", "inputs_as_nchw"),
        std::tuple(&out.outputs_as_nhwc, &out.outputs_as_nchw, "outputs_as_nhwc",
                   "outputs_as_nchw")}) {
    for (const std::string& name : *last) {
      if (std::find(first->begin(), first->end(), name) == first->end()) continue;
      return OptionError(option, "'", name, "' is named by ", OptionText(other), " too");
    }
  }
  if (out.keep_io && !out.narrow_floats && !out.format_options.Flag("float16")) {
    return OptionError("keep_io", "needs ", OptionText("float16"));
  }
  if (out.int8 && (out.narrow_floats || out.format_options.Flag("float16") ||
                   out.format_options.Flag("dynamic_range"))) {
    return OptionError("int8", "excludes ", OptionText("float16"), ", ", OptionText("bfloat16"),
                       " and ", OptionText("dynamic_range"));
  }
  if (!out.keep.empty() && !out.narrow_floats) {
    const bool of_format = out.format_options.Flag("float16");
    return OptionError(
        "keep", "needs ", OptionText("float16"),
        of_format ? StrCat(", which in format '", to->name, "' applies only to weights") : "");
  }
  return absl::OkStatus();
}

// Whether any format has an option of the key, among those.
bool SomeFormatHas(std::string_view key, std::vector<OptionDef> Format::*defs) {
  for (const Format* format : AllFormats()) {
    for (const OptionDef& def : format->*defs) {
      if (OptionKey(def.name) == key) return true;
    }
  }
  return false;
}

absl::Status CheckKey(std::string_view key, const Format* from, const Format* to) {
  std::vector<std::string> known;
  for (const ConversionOption& option : ConversionOptions()) {
    known.push_back(OptionKey(option.def.name));
    if (known.back() != key) continue;
    if (!from && option.side == ConversionOption::kImport) {
      return OptionError(option.def.name, "is an option of reading, and no model is read here");
    }
    if (!to && option.side == ConversionOption::kExport) {
      return OptionError(option.def.name, "is an option of writing, and no model is written here");
    }
    return absl::OkStatus();
  }
  if (from && SomeFormatHas(key, &Format::read_options)) return absl::OkStatus();
  for (const OptionDef& def : to ? to->write_options : std::vector<OptionDef>()) {
    known.push_back(OptionKey(def.name));
    if (known.back() == key) return absl::OkStatus();
  }
  const std::string whose =
      to ? StrCat("format '", to->name, "', which is written, has no such") : "there is no such";
  return OptionError(key, whose, " option", DidYouMean(std::string(key), known));
}

}  // namespace

absl::Span<const ConversionOption> ConversionOptions() { return Table(); }

absl::StatusOr<FormatOptions> ParseConversionOptions(const OptionTexts& texts) {
  FormatOptions options;
  std::vector<OptionDef> others;
  for (const ConversionOption& option : Table()) {
    if (!option.whole) {
      others.push_back(option.def);
      continue;
    }
    Strings items;
    for (const auto& [key, text] : texts) {
      if (key != OptionKey(option.def.name)) continue;
      if (text.empty()) return OptionError(option.def.name, "expected a text that is not empty");
      items.push_back(text);
    }
    if (!items.empty()) options.Set(option.def.name, std::move(items));
  }
  X2IR_ASSIGN_OR_RETURN(const FormatOptions more, ParseOptions(texts, others));
  for (const auto& [name, value] : more.values()) options.Set(name, value);
  return options;
}

absl::StatusOr<ConvertOptions> ConversionOf(const ConversionValues& values, const Format* to) {
  ConvertOptions options;
  FormatOptions said;
  FormatOptions writing = values.writing;
  for (const auto& [name, value] : values.conversion.values()) {
    // A format that has an option of the same name knows what its runtimes make of it.
    if (to && FindOption(to->write_options, name)) {
      writing.Set(name, value);
    } else {
      said.Set(name, value);
    }
  }
  if (said.Has("passes") && said.Has("optimize") && !said.Flag("optimize")) {
    return OptionError("passes", "excludes ", OptionText("no_optimize"));
  }
  for (const ConversionOption& option : Table()) {
    const auto it = said.values().find(option.def.name);
    if (it != said.values().end()) {
      X2IR_RETURN_IF_ERROR(option.set(it->second, options));
    }
  }
  options.from.format_options = values.reading;
  options.to.format_options = std::move(writing);
  if (to) options.to.format = to->name;
  if (to) options.from.foreign.target = to->dialect;
  X2IR_RETURN_IF_ERROR(CheckTogether(options, to));
  if (options.to.passes) options.to.optimize = true;
  return options;
}

absl::Status CheckCanCheck(const Format* from, const Format* to) {
  std::string names;
  for (const Format* format : {from, to}) {
    const Dialect* dialect = format ? FindDialect(format->dialect) : nullptr;
    if (dialect && dialect->schema) return absl::OkStatus();
    if (format) StrAppend(&names, names.empty() ? "" : " and ", "'", format->name, "'");
  }
  return OptionError("check", from && to ? "formats " : "format ", names,
                     from && to ? " have" : " has", " no schemas");
}

absl::StatusOr<ConvertOptions> ParseConversion(const OptionTexts& texts, const Format* from,
                                               const Format* to) {
  for (const auto& [key, text] : texts) X2IR_RETURN_IF_ERROR(CheckKey(key, from, to));
  ConversionValues values;
  X2IR_ASSIGN_OR_RETURN(values.conversion, ParseConversionOptions(texts));
  if (from) {
    X2IR_ASSIGN_OR_RETURN(values.reading, ParseOptions(texts, from->read_options));
  }
  if (to) {
    X2IR_ASSIGN_OR_RETURN(values.writing, ParseOptions(texts, to->write_options));
  }
  X2IR_ASSIGN_OR_RETURN(ConvertOptions options, ConversionOf(values, to));
  if (from) options.from.format = from->name;
  if (options.to.check) X2IR_RETURN_IF_ERROR(CheckCanCheck(from, to));
  X2IR_RETURN_IF_ERROR(SettleInt8(from, options.from, options.to));
  return options;
}

absl::Status AtLeastOpset(
    const Format& target, ExportOptions to, Report& report,
    const std::function<absl::Status(const ExportOptions& to, Report& report)>& convert) {
  const bool asked = to.opset || to.format_options.Has("opset");
  const absl::Status first = convert(to, report);
  if (first.ok() || asked || !FindOption(target.write_options, "opset")) return first;
  std::string lacked;
  for (const Failure& failure : report.failures) {
    StrAppend(&lacked, lacked.empty() ? "" : ", ", failure.op);
  }
  int64_t opset = 0;
  for (int64_t next = report.LeastSufficientOpset(); next > opset;) {
    opset = next;
    to.opset = static_cast<int>(opset);
    Report later;
    if (convert(to, later).ok()) {
      later.notes.push_back(
          StrCat("opset ", opset, ", the oldest that has what the model needs: ", lacked));
      report = std::move(later);
      return absl::OkStatus();
    }
    next = later.LeastSufficientOpset();
  }
  return first;
}

}  // namespace x2ir
