// Settings of layers as a configuration has them.
#ifndef X2IR_FORMATS_KERAS_SETTINGS_INTERNAL_H_
#define X2IR_FORMATS_KERAS_SETTINGS_INTERNAL_H_

#include <string_view>

#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace x2ir::keras {

// An attribute of a layer's node as its configuration's setting of that name.
Json SettingJson(std::string_view name, const Attribute& attr);

// A layer within the configuration of another one (Bidirectional); attributes have it as text.
Json NestedLayer(std::string_view class_name, std::string_view name, std::string_view dtype,
                 const AttributeMap& config);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_SETTINGS_INTERNAL_H_
