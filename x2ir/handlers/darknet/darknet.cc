#include "x2ir/handlers/darknet/darknet.h"

#include <algorithm>
#include <iterator>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/darknet/darknet.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = darknet::kDialect, .layout = "channels_first"});

// Options of trainings, and hints, of any section.
constexpr std::string_view kOfTraining[] = {
    "learning_rate",    "learning_rate_scale", "stopbackward",  "onlyforward",
    "dont_update",      "burnin_update",       "train_only_bn", "clip",
    "dontload",         "temperature_train",   "momentum",      "decay",
    "label_smooth_eps", "assisted_excitation", "grad_centr",    "dot",
    "stream",           "wait_stream"};

}  // namespace

DarknetArgs::DarknetArgs(Rewrite& r) : NodeReader(r) {
  const auto all = static_cast<int64_t>(num_inputs());
  num_weights_ =
      static_cast<size_t>(std::clamp(NodeReader::Int(darknet::kWeights, 0), int64_t{0}, all));
}

Expr DarknetArgs::image(size_t i) {
  const Expr x = in(i);
  Require(x->shape() != nullptr, "an operand of unknown rank");
  if (x->shape()->rank() == 4) return x;
  return ReshapeTo(x, {SizeAt(x, 0), Size(-1), Size(1), Size(1)});
}

std::string DarknetArgs::Text(std::string_view name, std::string_view fallback) {
  return NodeReader::String(Symbol(name), fallback);
}
std::vector<double> DarknetArgs::Numbers(std::string_view name) {
  return darknet::ParseNumbers(Text(name, ""));
}
std::vector<int64_t> DarknetArgs::Integers(std::string_view name) {
  return darknet::ParseIntegers(Text(name, ""));
}
int64_t DarknetArgs::Integer(std::string_view name, int64_t fallback) {
  if (!HasAttr(Symbol(name))) return fallback;
  const std::vector<int64_t> numbers = Integers(name);
  if (numbers.empty()) Fail(Invalid("the value of '", name, "' is no number"));
  return numbers.empty() ? fallback : numbers[0];
}
double DarknetArgs::Number(std::string_view name, double fallback) {
  if (!HasAttr(Symbol(name))) return fallback;
  const std::vector<double> numbers = Numbers(name);
  if (numbers.empty()) Fail(Invalid("the value of '", name, "' is no number"));
  return numbers.empty() ? fallback : static_cast<double>(static_cast<float>(numbers[0]));
}
void DarknetArgs::RefuseAll(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    Require(Integer(name, 0) == 0, StrCat("a value of '", name, "'"));
  }
}
void DarknetArgs::Drop(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) Ignore(Symbol(name));
}

absl::Status DarknetDialect::Finish(DarknetArgs& args) {
  for (const std::string_view name : kOfTraining) args.Ignore(Symbol(name));
  return args.CheckAllTaken();
}

}  // namespace x2ir
