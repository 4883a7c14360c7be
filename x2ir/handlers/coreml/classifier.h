// Programs that are classifiers: MIL's `classify` gives the label of the best class, and a
// dictionary of the probabilities of all.
#ifndef X2IR_HANDLERS_COREML_CLASSIFIER_H_
#define X2IR_HANDLERS_COREML_CLASSIFIER_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// In IR, before the passes: an output that is a constant label of the place of the greatest of some
// scores becomes a `classify` of them, and the output that has these scores (or their softmax,
// whose greatest is in the same place) its dictionary. Labels are strings, or the integers of a
// model that was a classifier of Core ML (coreml::kLabel).
absl::Status ReadyForCoreml(Graph& graph);

// In the dialect: the model becomes a classifier as the options `labels`, `label_name` and
// `probabilities` say (format.cc). The operand of `classify` becomes float32, and the node the last
// one. Option errors: a file that cannot be read or has no labels, a name that no output has, an
// output that has not as many elements as there are labels.
absl::Status FinishClassifier(Graph& graph, const FormatOptions& options);

bool IsClassify(const Node* node);  // may be null

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_CLASSIFIER_H_
