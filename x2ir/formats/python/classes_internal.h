// Modules of a Program as classes of Python.
#ifndef X2IR_FORMATS_PYTHON_CLASSES_INTERNAL_H_
#define X2IR_FORMATS_PYTHON_CLASSES_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {

struct ClassOptions {
  bool frozen = false;  // no weight is trained
};

// What a file needs of the classes.
struct ClassTexts {
  std::vector<std::string> classes;  // those that others are made of first; the model's last
  std::vector<std::string> inputs;   // of the model, as its forward calls them
};

// Unimplemented, with the operator, for a call that has no spelling. `outputs`: the fields of what
// the model returns where there are several.
absl::StatusOr<ClassTexts> WriteClasses(Program& program, const std::vector<std::string>& outputs,
                                        const ClassOptions& options);

// A forward's lines: the body of the module, with what its arguments are called.
struct Forward {
  std::vector<std::string> parameters;
  std::vector<std::string> lines;  // without indentation but their own
};
// What a module's rendering needs of the modules in it.
struct ClassKeys {
  std::function<const std::string&(const Module*)> key;  // equal for modules of one class
};
absl::StatusOr<Forward> WriteForward(Program& program, const Module& module, const ClassKeys& keys,
                                     const std::vector<std::string>& outputs);

// A logical line as black has it: at most 88 columns where brackets allow. `indent` levels deep.
void AppendLine(std::string& out, size_t indent, std::string_view line);

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_CLASSES_INTERNAL_H_
