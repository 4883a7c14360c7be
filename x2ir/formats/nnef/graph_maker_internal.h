// The state that makes a graph of a document. Its parts are in files of their own: names and
// nodes (graph_maker.cc), expressions (expressions.cc), calls of operators and fragments
// (calls.cc), tensors and models of the file (parts.cc), loops over an axis (scan.cc).
#ifndef X2IR_FORMATS_NNEF_GRAPH_MAKER_INTERNAL_H_
#define X2IR_FORMATS_NNEF_GRAPH_MAKER_INTERNAL_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/nnef/graph_maker.h"
#include "x2ir/formats/nnef/items.h"

namespace x2ir {
namespace nnef {

using ItemOr = absl::StatusOr<Item>;
// A value and the parameter that it is given to.
using Operand = std::pair<std::string, Value*>;
using Arguments = absl::flat_hash_map<std::string, const SyntaxExpr*>;

// Calls of fragments within each other.
inline constexpr int kMaxCalls = 100;

// The names of a graph or of a call of a fragment.
struct Scope {
  absl::flat_hash_map<std::string, Item> names;
  std::string prefix{};  // of the names of values
  int depth = 0;         // of calls
};

class GraphMaker {
 public:
  GraphMaker(const std::string& text, const Document& document, const ModelParts& parts,
             Model* model);
  absl::Status Make();

 private:
  absl::Status At(const SyntaxExpr& expr, const absl::Status& status) const;
  // What an expression costs: itself, and the elements of lists that it gives.
  absl::Status Spend(const Item& item);

  // Nodes.
  std::vector<Value*> AddNode(std::string_view op, const std::vector<Operand>& operands,
                              AttributeMap attrs, size_t results);
  absl::StatusOr<Value*> TensorValue(const Item& item);
  absl::StatusOr<Value*> SizeValue(const Dim& size);

  // Names.
  absl::Status Define(Scope* scope, const std::string& name, Item item);
  absl::Status NameValue(const std::string& name, Value* value);
  absl::StatusOr<Value*> QuantizedAs(const std::string& name, Value* value);

  // Bodies and expressions.
  absl::Status Run(const Fragment& fragment, Scope* scope);
  absl::Status Assign(const Assignment& line, Scope* scope);
  ItemOr Evaluate(const SyntaxExpr& expr, Scope* scope);
  ItemOr EvaluateKind(const SyntaxExpr& expr, Scope* scope);
  ItemOr Named(const std::string& name, const Scope& scope);
  ItemOr Loop(const SyntaxExpr& expr, Scope* scope);
  ItemOr Indexed(const SyntaxExpr& expr, Scope* scope);
  ItemOr Ranged(const SyntaxExpr& expr, Scope* scope);

  // Calls.
  ItemOr Call(const SyntaxExpr& call, Scope* scope);
  ItemOr Builtin(const SyntaxExpr& call, Scope* scope);
  ItemOr CallFragment(const SyntaxExpr& call, const Fragment& fragment, Scope* scope);
  ItemOr CallOperator(const SyntaxExpr& call, const Fragment& op, Scope* scope);
  absl::Status Give(const Parameter& param, const Item& item, std::vector<Operand>* operands,
                    AttributeMap* attrs);
  ItemOr ArgumentOf(const SyntaxExpr& call, std::string_view name, Scope* scope);

  // What a fragment or a model that ran gives: its results by their names in `scope`.
  static ItemOr ResultsOf(const std::vector<Parameter>& results, const Scope& scope);

  // Tensors and models of the file.
  ItemOr External(const SyntaxExpr& call, Scope* scope);
  ItemOr Variable(const SyntaxExpr& call, Scope* scope);
  ItemOr Constant(const SyntaxExpr& call, Scope* scope);
  ItemOr Update(const SyntaxExpr& call, Scope* scope);
  void MakeStates();
  ItemOr CallSubmodel(const SyntaxExpr& call, Scope* scope);
  absl::StatusOr<std::string> LabelOf(const SyntaxExpr& call, Scope* scope);

  // Loops.
  ItemOr Scan(const SyntaxExpr& call, Scope* scope);
  ItemOr MakeScan(const Fragment& fragment, const Item& scans, const Item& full, const Item& states,
                  const Item& outputs, Scope* scope);

  const std::string& text_;
  const Document& document_;
  const ModelParts& parts_;
  Model* model_;
  Graph* graph_;
  absl::flat_hash_map<std::string, const Fragment*> fragments_;
  // Where the size of a symbol is first found.
  std::map<std::string, std::pair<Value*, int64_t>> symbols_;
  absl::flat_hash_map<std::string, Value*> variables_;
  absl::flat_hash_set<const Value*> named_, quantized_;
  // A variable that runs change, and what it is after a run. In order of the text.
  struct State {
    Value *variable, *next;
  };
  std::vector<State> states_;
  bool reads_as_tract_ = false;
  int64_t steps_ = 0, elements_ = 0;
  int nesting_ = 0;
  size_t wanted_list_ = 0;  // the results that a line names, where they are a list's elements
  mutable bool located_ = false;
};

// The expressions that a call gives to parameters, by their names.
absl::StatusOr<Arguments> MatchArguments(const SyntaxExpr& call,
                                         const std::vector<Parameter>& params);
// The results of a call: one, or a list of them.
Item ResultsItem(std::vector<Item> results);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_GRAPH_MAKER_INTERNAL_H_
