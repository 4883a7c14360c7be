// Linked into every test program: with X2IR_PRODUCED_OPS=FOLDER it writes to a file there what each
// row made of its operator in the conversions of the program's tests. produced_ops.py makes the
// table x2ir/inspect/produced_ops.inc of these files.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/driver.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

std::mutex g_mutex;
auto& Counts() {  // by operator and IR op
  static auto& counts = *new std::map<std::string, std::map<std::string, int>>;
  return counts;
}

void Record(const Form& form, const std::vector<Node*>& made) {
  std::set<std::string> ops;
  for (const Node* node : made) {
    if (node->is_ir()) ops.insert(node->op().str());
  }
  const std::lock_guard lock(g_mutex);
  auto& counts = Counts()[StrCat(form.dialect.str(), ".", form.op.str())];
  for (const std::string& op : ops) ++counts[op];
}

const bool g_recorded = [] {
  if (std::getenv("X2IR_PRODUCED_OPS") == nullptr) return false;
  SetRewriteObserver(Record);
  std::atexit([] {
    std::ofstream out(StrCat(std::getenv("X2IR_PRODUCED_OPS"), "/", getpid(), ".txt"));
    for (const auto& [op, counts] : Counts()) {
      for (const auto& [ir, count] : counts) out << op << '\t' << ir << '\t' << count << '\n';
    }
  });
  return true;
}();

}  // namespace
}  // namespace x2ir
