#include "x2ir/core/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/dialect_target.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

constexpr char kCalibrate[] = "calibrate";
constexpr const char* kMethods[] = {"minmax", "percentile", "mse"};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kBins = 2048;
constexpr double kOutliers = 1e-4;  // of kPercentile

NamedRegistry<Int8Defaults>& Defaults() {
  static auto& registry = *new NamedRegistry<Int8Defaults>("int8 defaults");
  return registry;
}

// Weights that a file holds in fewer digits are float32 before they are integers.
absl::Status WidenWeights(Graph& graph) {
  for (Node* node : graph.nodes()) {
    const Value* x = node->input(0);
    Value* y = node->output(0);
    if (!node->Is("cast") || !x || !x->fixed_constant() || y->dtype() != DType::kFloat32) continue;
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> wide, EvalConstantNode(*node));
    Value* constant =
        graph.AddConstant(graph.UniqueName(StrCat(y->name(), "_float32")), *wide[0].tensor());
    graph.ReplaceAllUsesKeepingOutputNames(y, constant);
    graph.EraseUnused(node);
  }
  return absl::OkStatus();
}

// How often numbers of a value have lain in each part of its range.
struct Histogram {
  NumberRange range;
  std::vector<int64_t> counts = std::vector<int64_t>(kBins);
  int64_t total = 0;

  double Width() const { return (range.high - range.low) / kBins; }
  double Center(size_t bin) const { return range.low + (static_cast<double>(bin) + 0.5) * Width(); }
  void Add(double v) {
    const double at = Width() > 0 ? (v - range.low) / Width() : 0;
    ++counts[static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(kBins - 1)))];
    ++total;
  }
  NumberRange Percentile() const {
    const auto spare = static_cast<int64_t>(static_cast<double>(total) * kOutliers / 2);
    size_t low = 0, high = kBins - 1;
    for (int64_t left = spare; low < high && left >= counts[low]; ++low) left -= counts[low];
    for (int64_t left = spare; high > low && left >= counts[high]; --high) left -= counts[high];
    return {range.low + static_cast<double>(low) * Width(),
            range.low + static_cast<double>(high + 1) * Width()};
  }
  // The sum of the squares of what rounding to 256 steps of `part` changes.
  double ErrorOf(NumberRange part) const {
    const double low = std::min(part.low, 0.0), high = std::max(part.high, 0.0);
    const double scale = (high - low) / 255;
    if (!(scale > 0)) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (size_t i = 0; i < kBins; ++i) {
      if (counts[i] == 0) continue;
      const double v = Center(i);
      const double near = std::nearbyint(std::clamp(v, low, high) / scale) * scale;
      sum += (v - near) * (v - near) * static_cast<double>(counts[i]);
    }
    return sum;
  }
  // The upper end first, then the lower one.
  NumberRange LeastError() const {
    NumberRange best = range;
    double least = ErrorOf(range);
    for (const auto end : {&NumberRange::high, &NumberRange::low}) {
      NumberRange part = best;
      const double whole = part.*end;
      for (int percent = 99; percent >= 20; --percent) {
        part.*end = whole * percent / 100;
        if (const double error = ErrorOf(part); error < least) {
          best = part;
          least = error;
        }
      }
    }
    return best;
  }
};

// Calls fn with the numbers of every value of float32, the inputs too, in a run of each case; gives
// the outputs of each.
template <typename Fn>
absl::StatusOr<std::vector<std::vector<Datum>>> ForEachValue(const Graph& graph,
                                                             absl::Span<const IoCase> cases,
                                                             const ProgressFn& progress, Fn fn) {
  std::vector<std::vector<Datum>> outputs;
  const auto look = [&](const Value& value, const Datum& datum) {
    const Tensor* tensor = datum.tensor();
    if (!tensor || tensor->dtype() != DType::kFloat32 || tensor->is_sparse()) return;
    fn(value, Numbers<float>(*tensor).span());
  };
  for (const IoCase& io : cases) {
    RunOptions run = WithProgress(graph, progress);
    run.on_value = look;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      if (io.inputs[i]) look(*graph.inputs()[i], *io.inputs[i]);
    }
    X2IR_ASSIGN_OR_RETURN(std::vector<Datum> results, RunCaseWith(graph, io, run));
    outputs.push_back(std::move(results));
  }
  return outputs;
}

// Ranges of values; values that were not always finite have none.
absl::StatusOr<NumberRanges> Measure(const Graph& graph, absl::Span<const IoCase> cases,
                                     const Int8Options& options,
                                     std::vector<std::vector<Datum>>* outputs) {
  NumberRanges ranges;
  X2IR_ASSIGN_OR_RETURN(
      *outputs, ForEachValue(graph, cases, options.progress,
                             [&](const Value& value, absl::Span<const float> numbers) {
                               if (numbers.empty()) return;
                               const auto [it, fresh] =
                                   ranges.try_emplace(&value, NumberRange{numbers[0], numbers[0]});
                               NumberRange& range = it->second;
                               for (const float v : numbers) {
                                 const bool is_number = std::isfinite(v);
                                 range.low = is_number ? std::min<double>(range.low, v) : kNaN;
                                 range.high = is_number ? std::max<double>(range.high, v) : kNaN;
                                 // What has no range will not get one.
                                 if (std::isnan(range.low)) return;
                               }
                             }));
  absl::erase_if(ranges, [](const auto& entry) {
    return !std::isfinite(entry.second.low) || !std::isfinite(entry.second.high);
  });
  if (options.method == RangeMethod::kMinMax) return ranges;
  absl::flat_hash_map<const Value*, Histogram> histograms;
  for (const auto& [value, range] : ranges) histograms[value].range = range;
  X2IR_RETURN_IF_ERROR(ForEachValue(graph, cases, options.progress,
                                    [&](const Value& value, absl::Span<const float> numbers) {
                                      const auto it = histograms.find(&value);
                                      if (it == histograms.end()) return;
                                      for (const float v : numbers) it->second.Add(v);
                                    })
                           .status());
  for (const auto& [value, histogram] : histograms) {
    ranges[value] =
        options.method == RangeMethod::kMse ? histogram.LeastError() : histogram.Percentile();
  }
  return ranges;
}

// Sums over all cases of one output.
struct ErrorSums {
  double max_abs = 0, xx = 0, yy = 0, xy = 0, ee = 0;

  void Add(const Tensor& got, const Tensor& expected) {
    if (got.dims() != expected.dims()) max_abs = std::numeric_limits<double>::infinity();
    const Numbers<double> x(got), y(expected);
    for (int64_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
      const double e = x[i] - y[i];
      max_abs = std::max(max_abs, std::fabs(e));
      xx += x[i] * x[i];
      yy += y[i] * y[i];
      xy += x[i] * y[i];
      ee += e * e;
    }
  }
  OutputError Of(std::string output) const {
    OutputError error{std::move(output), max_abs, 1, std::numeric_limits<double>::infinity()};
    if (xx > 0 && yy > 0) error.cosine = std::min(1.0, xy / std::sqrt(xx) / std::sqrt(yy));
    if (xx == 0 && yy > 0) error.cosine = 0;
    if (ee > 0) error.snr = 10 * portable::log10(yy / ee);
    return error;
  }
};

std::string Short(double v, const char* format = "%.3g") {
  char text[32];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

std::string Counted(const std::string& what, int64_t count) {
  return count > 1 ? StrCat(what, " ", count) : what;
}

}  // namespace

bool RegisterInt8Defaults(Int8Defaults defaults, SourcePlace place) {
  Defaults().Add(std::move(defaults), place);
  return true;
}

std::vector<std::string> RangeMethodNames() { return {std::begin(kMethods), std::end(kMethods)}; }

std::optional<RangeMethod> RangeMethodOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kMethods); ++i) {
    if (name == kMethods[i]) return static_cast<RangeMethod>(i);
  }
  return std::nullopt;
}

std::string OutputError::Note(std::string_view by) const {
  const std::string beside =
      StrCat(output, " beside float32", by.empty() ? "" : StrCat(", by ", by), ": ");
  if (std::isinf(max_abs)) return StrCat(beside, "of another shape");
  return StrCat(beside, "max abs ", Short(max_abs), ", cosine ", Short(cosine, "%.6f"), ", SNR ",
                std::isinf(snr) ? "infinite" : Short(snr, "%.1f") + " dB");
}

std::vector<OutputError> OutputErrors(absl::Span<const std::string> names,
                                      absl::Span<const std::vector<Datum>> got,
                                      absl::Span<const std::vector<Datum>> floats) {
  std::vector<OutputError> errors;
  for (size_t i = 0; i < names.size(); ++i) {
    ErrorSums sums;
    bool any = false;
    for (size_t c = 0; c < got.size(); ++c) {
      const Tensor *x = got[c][i].tensor(), *y = floats[c][i].tensor();
      if (!x || !y || !IsFloating(x->dtype()) || !IsFloating(y->dtype())) continue;
      sums.Add(*x, *y);
      any = true;
    }
    if (any) errors.push_back(sums.Of(names[i]));
  }
  return errors;
}

std::vector<std::string> Int8Result::Notes() const {
  std::string ops;
  int64_t count = 0;
  for (const auto& [op, n] : what.ops) {
    StrAppend(&ops, ops.empty() ? "" : ", ", Counted(op, n));
    count += n;
  }
  const size_t cases = floats.size();
  std::vector<std::string> notes = {StrCat("int8: ", count, count == 1 ? " op" : " ops", " (", ops,
                                           "), ", what.weights,
                                           what.weights == 1 ? " weight" : " weights",
                                           ", scales of ", cases, cases == 1 ? " case" : " cases")};
  std::map<std::string, std::string> by_reason;
  for (const auto& [left, n] : what.left) {
    std::string& list = by_reason[left.second];
    StrAppend(&list, list.empty() ? "" : ", ", Counted(left.first, n));
  }
  for (const auto& [reason, list] : by_reason) {
    notes.push_back(StrCat("stay float32: ", list, ": ", reason));
  }
  for (const OutputError& error : errors) notes.push_back(error.Note());
  return notes;
}

absl::StatusOr<Int8Result> QuantizeToInt8(Model& ir, absl::Span<const IoCase> cases,
                                          const Int8Options& options) {
  if (cases.empty()) return Invalid("there are no inputs to measure scales with");
  Graph& graph = *ir.graph;
  X2IR_RETURN_IF_ERROR(graph.Sort());
  X2IR_RETURN_IF_ERROR(InferGraph(graph));
  const Dialect* dialect = FindDialect(options.dialect);
  PassContext context;
  std::optional<DialectTarget> facts;
  if (dialect) {
    const int opset = dialect->default_opset != 0 ? dialect->default_opset : dialect->latest_opset;
    facts.emplace(options.dialect, std::vector<OpsetImport>{{"", opset}});
    context.target = &*facts;
    context.layout = std::string(facts->layout());
  }
  X2IR_RETURN_IF_ERROR(WidenWeights(graph));
  X2IR_RETURN_IF_ERROR(RunPasses(graph, options.passes, context).status());
  X2IR_RETURN_IF_ERROR(graph.Sort());

  Int8Result result;
  X2IR_ASSIGN_OR_RETURN(const NumberRanges ranges, Measure(graph, cases, options, &result.floats));
  X2IR_ASSIGN_OR_RETURN(result.what, QuantizeFloats(graph, ranges, options.floats));
  if (result.what.ops.empty()) {
    return CannotExpress("no op of the model can become an int8 op");
  }
  std::vector<std::vector<Datum>> integers;
  for (const IoCase& io : cases) {
    X2IR_ASSIGN_OR_RETURN(integers.emplace_back(), RunCase(graph, io, options.progress));
  }
  std::vector<std::string> names;
  for (const Value* output : graph.outputs()) names.push_back(output->name());
  result.errors = OutputErrors(names, integers, result.floats);
  return result;
}

absl::StatusOr<std::vector<std::string>> CalibrationFiles(absl::Span<const std::string> paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".npy" || extension == ".safetensors") inside.push_back(entry.path());
    }
    if (error) return SystemError("cannot read '", path, "': ", error.message());
    if (inside.empty()) {
      return OptionError(kCalibrate, "'", path, "' has no .npy and no .safetensors file in it");
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

absl::StatusOr<std::vector<IoCase>> ReadCalibration(absl::Span<const std::string> paths,
                                                    const Graph& graph) {
  const auto problem = [](const auto&... words) { return OptionError(kCalibrate, words...); };
  // What is wrong with a file is the option's fault, unless it is the system's.
  const auto failed = [&](const absl::Status& status) {
    return absl::IsUnavailable(status) ? status : problem(std::string(status.message()));
  };
  X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> files, CalibrationFiles(paths));
  const bool named = paths.size() == 1 && files == std::vector<std::string>{paths[0]};
  std::vector<size_t> required;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (!graph.inputs()[i]->constant()) required.push_back(i);
  }
  std::vector<IoCase> cases;
  for (const std::string& path : files) {
    const std::filesystem::path file(path);
    if (file.extension() == ".npy") {
      if (required.size() != 1) {
        return problem("'", path, "' is one array, but the model has ", required.size(),
                       " inputs; give io files (.safetensors)");
      }
      auto tensor = ReadNpy(path);
      if (!tensor.ok()) return failed(tensor.status());
      IoCase io;
      io.inputs.resize(graph.inputs().size());
      io.inputs[required[0]] = *std::move(tensor);
      io.outputs.resize(graph.outputs().size());
      cases.push_back(std::move(io));
      cases.back().name = file.filename().string();
      continue;
    }
    auto some = ReadIoFile(path, graph);
    if (!some.ok()) return failed(some.status());
    for (IoCase& io : *some) {
      // Of several files, which one it is of.
      if (!named) io.name = StrCat(file.filename().string(), io.name.empty() ? "" : " ", io.name);
      cases.push_back(std::move(io));
    }
  }
  for (const IoCase& io : cases) {
    if (absl::Status fits = CheckInputs(graph, io.inputs); !fits.ok()) {
      return problem(io.name, io.name.empty() ? "" : ": ", std::string(fits.message()));
    }
  }
  return cases;
}

absl::Status CheckCalibrates(const ExportOptions& options) {
  if (!options.int8 || !options.int8->calibrate.empty()) return absl::OkStatus();
  return OptionError("int8", "needs ", OptionText(kCalibrate),
                     ": scales are measured by running the model on inputs; give an io file, as "
                     "x2ir run takes it, or a folder of io files or .npy files");
}

absl::Status SettleInt8(const Format* source, ImportOptions& from, ExportOptions& to) {
  constexpr std::string_view kWeightsAlone = "int8_weights";
  const bool alone = to.int8 && to.int8->calibrate.empty() && !to.int8->per_channel &&
                     !to.int8->weight_bits && to.int8->method.empty();
  if (!alone || !source || !FindOption(source->read_options, kWeightsAlone)) {
    return CheckCalibrates(to);
  }
  from.format_options.Set(std::string(kWeightsAlone), true);
  to.int8.reset();
  return absl::OkStatus();
}

absl::StatusOr<Int8Result> QuantizeAsAsked(Model& ir, absl::Span<const IoCase> cases,
                                           const ExportOptions& options,
                                           const std::string& dialect) {
  const Int8Request& asked = *options.int8;
  Int8Options int8;
  if (!asked.method.empty()) {
    const std::optional<RangeMethod> method = RangeMethodOf(asked.method);
    if (!method) {
      return OptionError("method", "there is no method '", asked.method,
                         "'; expected one of: ", absl::StrJoin(RangeMethodNames(), ", "));
    }
    int8.method = *method;
  }
  int8.floats.per_channel = asked.per_channel;
  const Int8Defaults* defaults = Defaults().Find(dialect);
  const int64_t bits =
      asked.weight_bits.value_or((defaults ? *defaults : Int8Defaults()).weight_bits);
  if (bits != 7 && bits != 8) return OptionError("weight_bits", "expected 7 or 8");
  int8.floats.weight_bits = static_cast<int>(bits);
  int8.dialect = dialect;
  if (options.optimize.value_or(true)) int8.passes = options.passes.value_or(DefaultPasses());
  int8.progress = options.progress;
  return QuantizeToInt8(ir, cases, int8);
}

}  // namespace x2ir
