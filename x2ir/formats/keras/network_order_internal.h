// The order in which a Functional model has its layers. Keras counts the layers of a class in this
// order when it stores and loads their weights, whatever the order in the configuration.
#ifndef X2IR_FORMATS_KERAS_NETWORK_ORDER_INTERNAL_H_
#define X2IR_FORMATS_KERAS_NETWORK_ORDER_INTERNAL_H_

#include <vector>

namespace x2ir::keras {

// Layers are numbers. `inputs[i]`: the layers that layer i takes tensors of, in the order of its
// arguments. `outputs`: the layers of the model's outputs; `ports`: its inputs. The graph has no
// cycles. Layers that no output depends on are left out, but for ports. As
// keras.src.ops.function.map_graph: the layers that are farthest from an output first, those of one
// distance in the order in which a walk from the outputs meets them.
std::vector<int> OrderOfLayers(const std::vector<std::vector<int>>& inputs,
                               const std::vector<int>& outputs, const std::vector<int>& ports);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_NETWORK_ORDER_INTERNAL_H_
