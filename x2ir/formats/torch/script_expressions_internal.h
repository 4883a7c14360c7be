// The expressions of TorchScript, by recursive descent over the words of ScriptLexer. Where the
// text is wrong, the lexer keeps the message and has no more words, so that all loops end.
#ifndef X2IR_FORMATS_TORCH_SCRIPT_EXPRESSIONS_INTERNAL_H_
#define X2IR_FORMATS_TORCH_SCRIPT_EXPRESSIONS_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "x2ir/formats/torch/script.h"
#include "x2ir/formats/torch/script_lexer_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_script {

class ScriptExpressions : protected ScriptLexer {
 protected:
  explicit ScriptExpressions(ParsedFile* file)
      : ScriptLexer(file->text, &file->strings), file_(*file) {}

  // Of expressions and statements, and of the calls here.
  static constexpr uint32_t kMaxNesting = 200;

  // An expression and how deep its tree is. It is null after an error.
  struct Node {
    Expr* expr = nullptr;
    uint32_t height = 0;
  };
  // One more call of a function that calls itself.
  class Nesting {
   public:
    explicit Nesting(ScriptExpressions* parser) : parser_(*parser) {
      if (++parser_.depth_ > kMaxNesting) parser_.FailNesting(parser_.token_.offset);
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ScriptExpressions& parser_;
  };
  void FailNesting(size_t at) {
    Fail(at, StrCat("expressions or statements are nested more than ", kMaxNesting, " deep"));
  }

  // a if b else c, and all that binds more.
  Node Expression();
  // A name, or what is written without operators.
  Node Postfix();
  // a, or a tuple where there are commas.
  Node Elements();
  // What a `for` assigns, before its "in".
  Node TargetElements();
  // Whether an expression may be assigned to; else an error.
  bool CheckTarget(const Expr* target);
  std::string_view Name(std::string_view what);

  ParsedFile& file_;

 private:
  Node Make(Expr::Kind kind, uint32_t offset, std::string_view text,
            std::initializer_list<Node> args);
  // Its arguments are those on the stack from `base` on, which are taken off.
  Node MakeOfStack(Expr::Kind kind, uint32_t offset, size_t base);
  Node Leaf(Expr::Kind kind);

  // How much an operator binds; 0: token_ is none.
  enum Precedence : uint8_t {
    kNoPrecedence,
    kOrPrecedence,
    kAndPrecedence,
    kComparePrecedence,
    kPipePrecedence,
    kCaretPrecedence,
    kAmpersandPrecedence,
    kShiftPrecedence,
    kSignPrecedence,
    kTimesPrecedence,
  };
  Precedence PrecedenceHere() const;
  std::string_view Operator(Precedence precedence);

  Node Binary(uint8_t least);
  Node Comparisons(Node left);
  Node Unary();
  Node Primary();
  Node Integer();
  Node Text();
  Node Parenthesized();
  Node ListOrComprehension();
  Node Dict();
  Node Comprehension(Expr::Kind kind, uint32_t offset, std::initializer_list<Node> element);
  Node Call(Node callee, uint32_t offset);
  Node Subscript(Node value, uint32_t offset);
  Node SubscriptElement();
  Node Element();
  Node ElementsFrom(Node first, uint32_t offset);

  uint32_t depth_ = 0;
  std::vector<Node> stack_;
  uint32_t minus_operand_ = 0;  // the offset of what follows the last "-" with one side
};

}  // namespace x2ir::torch_script

#endif  // X2IR_FORMATS_TORCH_SCRIPT_EXPRESSIONS_INTERNAL_H_
