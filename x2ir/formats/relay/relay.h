// Programs of Relay, TVM's intermediate language: as text ("net.relay"), and as the JSON of
// tvm.ir.save_json. Functions are written out where they are called, tuples are taken apart, and
// recursive functions whose last step calls them again become loops. Calls of operators are nodes
// of dialect "relay" with their attributes as texts, as in graphs of NNVM.
#ifndef X2IR_FORMATS_RELAY_RELAY_H_
#define X2IR_FORMATS_RELAY_RELAY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace relay {
inline constexpr char kDialect[] = "relay";
// Whether a file begins like a text of Relay, or like the JSON of save_json.
bool LooksLikeText(std::string_view head);
bool LooksLikeJson(std::string_view head);
}  // namespace relay

struct RelayReadOptions {
  std::string params{};  // the file of parameters; empty: the one beside the program
};

// Parameters of @main that a list of parameters has are constants, the others inputs. DataLoss or
// InvalidArgument for what is no program, or a wrong one; Unimplemented for what no graph can hold:
// recursion that is no loop, references, lists of unknown length.
absl::StatusOr<Model> ReadRelay(const Source& source, const RelayReadOptions& options = {});

struct RelayWriteOptions {
  bool json = false;    // JSON in place of text
  bool params = false;  // constants in a list of parameters beside the program
};

// FailedPrecondition for what a program of Relay cannot hold.
absl::Status WriteRelay(const Model& model, const Sink& sink,
                        const RelayWriteOptions& options = {});
// The list of parameters beside it: "net.relay" has "net.params".
std::string RelayParamsOf(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_RELAY_H_
