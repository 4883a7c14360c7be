#include "x2ir/formats/checks.h"

#include <sstream>

#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir {
namespace {

constexpr char kChecks[] = "checks";
constexpr char kLeftOut[] = "checks.left_out";

}  // namespace

void StoreChecks(Model& model, const std::vector<ResultCheck>& checks) {
  std::ostringstream text;
  text.precision(17);
  for (const ResultCheck& check : checks) {
    text << int{check.kind} << ' ' << check.actual << ' ' << check.expected << ' '
         << check.tolerance << ' ' << check.min_ulps << ' ' << check.max_ulps << ' ' << check.line
         << '\n';
  }
  model.annotations.GetOrMake().extra[kChecks] = text.str();
}

std::vector<ResultCheck> ChecksOf(const Model& model) {
  std::vector<ResultCheck> checks;
  const Annotations* annotations = model.annotations.get();
  if (annotations == nullptr) return checks;
  const auto found = annotations->extra.find(kChecks);
  if (found == annotations->extra.end()) return checks;
  std::istringstream text(found->second);
  int kind = 0;
  ResultCheck check;
  while (text >> kind >> check.actual >> check.expected >> check.tolerance >> check.min_ulps >>
         check.max_ulps >> check.line) {
    check.kind = static_cast<ResultCheck::Kind>(kind);
    checks.push_back(check);
  }
  return checks;
}

void StoreChecksLeftOut(Model& model, int64_t count) {
  model.annotations.GetOrMake().extra[kLeftOut] = std::to_string(count);
}

int64_t ChecksLeftOut(const Model& model) {
  const Annotations* annotations = model.annotations.get();
  if (annotations == nullptr) return 0;
  const auto found = annotations->extra.find(kLeftOut);
  if (found == annotations->extra.end()) return 0;
  return ParseNumber<int64_t>(found->second).value_or(0);
}

}  // namespace x2ir
