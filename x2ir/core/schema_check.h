// Violations of the schemas of a model's ops, for `--check`.
#ifndef X2IR_CORE_SCHEMA_CHECK_H_
#define X2IR_CORE_SCHEMA_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// As CheckAgainstSchemas, but names of nodes need not be unique: some runtimes require it, no
// format does.
std::vector<std::string> SchemaProblems(const Model& model, const Dialect& dialect);
// "\n  " before each; of many the first ones and how many there are.
std::string ProblemsText(const std::vector<std::string>& problems);

// A model as its file has it, in a dialect: InvalidArgument where it breaks the schemas of its ops;
// where there are none, OK. The report says that it was checked.
absl::Status CheckAsRead(const Model& model, const std::string& dialect, Report& report);

}  // namespace x2ir

#endif  // X2IR_CORE_SCHEMA_CHECK_H_
