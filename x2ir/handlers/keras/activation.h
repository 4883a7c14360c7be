// Activations by their names, as layers name them and as layers of their own.
#ifndef X2IR_HANDLERS_KERAS_ACTIVATION_H_
#define X2IR_HANDLERS_KERAS_ACTIVATION_H_

#include <string>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/keras/keras.h"

namespace X2IR_API x2ir {

// Of x, by the configuration of an activation: a name, or {"class_name", "config"}. `channels_last`
// does not matter: softmax is of the last axis. Unimplemented for a function that is not known.
Expr Activated(KerasArgs& a, const Json& activation, const Expr& x);
// The setting `name` of a layer; without it, x itself.
Expr ActivatedBy(KerasArgs& a, Symbol name, const Expr& x, std::string_view fallback = "linear");

// hard_sigmoid: clip(0.2 x + 0.5) until Keras 2, relu6(x + 3) / 6 since Keras 3.
Expr HardSigmoid(KerasArgs& a, const Expr& x);

// One of the IR's activations of recurrent layers; nullopt: there is none.
std::optional<RecurrentActivation> GateActivationOf(KerasArgs& a, const Json& activation);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_ACTIVATION_H_
