// The code of PyTorch's lite interpreter (bytecode.pkl): instructions of a machine with a stack and
// registers. Here they become the text that torch.jit.save writes of the same program, which
// ParseScript reads: archives without code/ need nothing else of their own.
#ifndef X2IR_FORMATS_TORCH_BYTECODE_H_
#define X2IR_FORMATS_TORCH_BYTECODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/torch/pickle.h"

namespace X2IR_API x2ir {
namespace torch_script {

struct BytecodeText {
  struct File {
    std::string path;  // "__torch__/a/b.py"
    ZipArchive::Bytes text;
  };
  std::vector<File> files;
  // What the text calls CONSTANTS.c0, c1, ...
  std::vector<const PickleValue*> constants;
};

// `data`, which may be null, is the object that the archive holds: its classes say what attributes
// are called, of which the code has numbers. Where an object's state is no dict
// (__setstate__ makes its attributes of it), number 3 is called _slot3.
//
// Registers are variables r1, r2, ...; what is computed in between is t1, t2, ... in the order of
// the instructions. Values that loops hand on are s1, s2, ..., and their counters i1, i2, ...
//
// DataLoss where the bytecode is broken, Unimplemented for what is not read.
absl::StatusOr<BytecodeText> WriteBytecodeAsScript(const PickleValue& bytecode,
                                                   const PickleValue* data);

}  // namespace torch_script
}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_BYTECODE_H_
