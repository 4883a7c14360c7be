// Rows of a dialect whose nodes are read and written by classes of its own. A dialect says what is
// peculiar to it in a struct, and its macro makes rows of it:
//
//   struct TfDialect : DialectDefaults {
//     static constexpr std::string_view kName = "tf";
//     using Args = TfArgs;      // on top of NodeReader
//     using Writer = TfWriter;  // on top of NodeWriter; none where the dialect is only read
//     static absl::Status Finish(TfArgs& args);
//     static Lens OtherAttributes(std::string_view op);
//   };
//   #define X2IR_TF(ir_op) X2IR_ROWS(::x2ir::TfDialect, ir_op)
//
// A row says by its name which way it goes:
//
//   X2IR_TF(relu).Is("Relu");                          // both, by data
//   X2IR_TF(identity).From("StopGradient");            // only read, by data
//   X2IR_TF(conv).From("Conv2D", Conv<2>);             // only read, by code
//   X2IR_TF(elu).To("Elu", Fixed("alpha", 1.0f));      // only written, by data
//   X2IR_TF(conv).To("Conv2D", ToConv);                // only written, by code
//
// A row by code names the main op of the side that it makes; tables of operators show it. An IR op
// has one row that writes. A row by data matches operands by position, and attributes by name and
// by lenses (core/spec.h); an attribute of the IR that has no counterpart must have its default.
// Code takes Args& or Writer&. It returns Values, an Expr, a Value*, or a StatusOr of Values or
// Value*.
#ifndef X2IR_CORE_DIALECT_SPEC_H_
#define X2IR_CORE_DIALECT_SPEC_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_view.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/spec.h"

namespace X2IR_API x2ir {

struct DialectDefaults {
  struct Writer;  // none
  // Before the names of ops.
  static constexpr std::string_view kPrefix = "";
  // Code may give fewer values than the node has outputs: those that are left out must be unused.
  static constexpr bool kFewerValues = false;
  // Called when code has read a node: all that is left must be of no meaning.
  static absl::Status Finish(NodeReader& args) { return args.CheckAllTaken(); }
  // Writes a node by a row's code. A dialect may have an answer for nodes of every op.
  template <typename Writer, typename Fn>
  static absl::StatusOr<Values> Write(Writer& writer, const Fn& row) {
    return row(writer);
  }
  // A lens of every row by data: attributes of no meaning. Null: there is none.
  static Lens OtherAttributes(std::string_view) { return nullptr; }
};

template <typename Dialect>
class DialectSpec {
 public:
  using Args = typename Dialect::Args;
  using Writer = typename Dialect::Writer;
  using ReadFn = std::function<absl::StatusOr<Values>(Args&)>;
  using WriteFn = std::function<absl::StatusOr<Values>(Writer&)>;

  explicit DialectSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_(Dialect::kName, ir_op, place) {}

  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) DialectSpec& Is(std::string_view op,
                                                                     Lenses&&... lenses) {
    return ByData(op, {std::forward<Lenses>(lenses)...});
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) DialectSpec& From(std::string_view op,
                                                                       Lenses&&... lenses) {
    return ByData(op, {std::forward<Lenses>(lenses)..., ImportOnly()});
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) DialectSpec& To(std::string_view op,
                                                                     Lenses&&... lenses) {
    return ByData(op, {std::forward<Lenses>(lenses)..., ExportOnly()});
  }
  template <typename Fn>
  requires std::is_invocable_v<Fn, Args&> DialectSpec& From(std::string_view op, Fn fn) {
    return Reads(op, [fn](Args& a) { return ValuesOf(fn, a); });
  }
  // The same under several names.
  template <typename Fn>
  requires std::is_invocable_v<Fn, Args&> DialectSpec& From(
      std::initializer_list<std::string_view> ops, Fn fn) {
    for (const std::string_view op : ops) From(op, fn);
    return *this;
  }
  // Several ops, each by code of its own or by a lens:
  // From({{"MaxPool", MaxPool}, {"MaxPoolV2", MaxPoolV2}}).
  struct Row {
    template <typename Fn>
    requires std::is_invocable_v<Fn, Args&> Row(std::string_view op, Fn fn)
        : op(op), fn([fn](Args& a) { return ValuesOf(fn, a); }) {}
    Row(std::string_view op, Lens lens) : op(op), lens(std::move(lens)) {}
    std::string_view op;
    ReadFn fn;
    Lens lens;
  };
  DialectSpec& From(std::initializer_list<Row> rows) {
    for (const Row& row : rows) row.fn ? Reads(row.op, row.fn) : From(row.op, row.lens);
    return *this;
  }
  template <typename Fn>
  requires std::is_invocable_v<Fn, Writer&> DialectSpec& To(std::string_view op, Fn fn) {
    return Writes(op, [fn](Writer& w) { return ValuesOf(fn, w); });
  }

 private:
  DialectSpec& ByData(std::string_view op, std::vector<Lens> lenses) {
    if (Lens others = Dialect::OtherAttributes(op)) lenses.push_back(std::move(others));
    spec_.Is(op, Since(1), std::move(lenses));
    return *this;
  }
  DialectSpec& Reads(std::string_view op, ReadFn fn) {
    const auto read = [fn = std::move(fn)](Rewrite& r) {
      return ReadNode(r, [&]() -> absl::StatusOr<Values> {
        Args args(r);
        X2IR_ASSIGN_OR_RETURN(Values values, fn(args));
        X2IR_RETURN_IF_ERROR(Dialect::Finish(args));
        if (Dialect::kFewerValues) values.resize(args.num_outputs());
        return values;
      });
    };
    spec_.Is(std::string(Dialect::kPrefix).append(op), Since(1), Code{read, nullptr});
    return *this;
  }
  DialectSpec& Writes(std::string_view op, WriteFn fn) {
    const auto write = [fn = std::move(fn)](Rewrite& r) {
      Writer w(r);
      return WriteNode(r, [&] { return Dialect::Write(w, fn); });
    };
    spec_.Is(op, Since(1), Code{nullptr, write});
    return *this;
  }

  Spec spec_;
};

#define X2IR_ROWS(Dialect, ir_op)                                                              \
  [[maybe_unused]] static ::x2ir::DialectSpec<Dialect> X2IR_CONCAT_(x2ir_rows_, __COUNTER__) = \
      ::x2ir::DialectSpec<Dialect>(#ir_op)

}  // namespace x2ir

#endif  // X2IR_CORE_DIALECT_SPEC_H_
