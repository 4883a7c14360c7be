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

// A number in a forward's lines that may become an argument of the class: a size or the end of a
// range.
struct ForwardNumber {
  size_t line = 0, begin = 0, end = 0;  // its position
  int64_t number = 0;
  std::string hint;       // what the argument would be called
  bool of_range = false;  // x[:, 3:5]
};
std::vector<ForwardNumber> NumbersOf(const std::vector<std::string>& lines);
// The lines with other texts in the places of these numbers; an empty one leaves the number. Each
// ends in a line break.
std::string WithNumbers(const std::vector<std::string>& lines,
                        const std::vector<ForwardNumber>& numbers,
                        const std::vector<std::string>& texts);

// A logical line as black has it: at most 88 columns where brackets allow. `indent` levels deep.
void AppendLine(std::string& out, size_t indent, std::string_view line);

}  // namespace x2ir::python

#endif  // X2IR_FORMATS_PYTHON_CLASSES_INTERNAL_H_
