// Core ML: classical machine learning.
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/handlers/coreml/classes.h"
#include "x2ir/handlers/coreml/coreml.h"

namespace x2ir {
namespace {

Values MilClassify(MilArgs& a) {
  a.Ignore("classes");
  a.Ignore(coreml::kIntClasses);
  const Attribute* texts = a.attrs().Find("classes");
  return ClassesOf(a, a.X("probabilities"), texts ? texts : a.attrs().Find(coreml::kIntClasses));
}

}  // namespace

X2IR_MIL(array_feature_extractor).From("classify", MilClassify);

}  // namespace x2ir
