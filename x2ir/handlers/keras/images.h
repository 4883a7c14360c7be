// Images as layers and functions of Keras resize them.
#ifndef X2IR_HANDLERS_KERAS_IMAGES_H_
#define X2IR_HANDLERS_KERAS_IMAGES_H_

#include <string>

#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/size.h"

namespace X2IR_API x2ir {

// [batch, height, width, channels], as tf.image.resize has it: of bilinear, nearest, bicubic, area,
// lanczos3, lanczos5, gaussian and mitchellcubic. Sizes are two integers, perhaps computed; where
// they are those that x has, the result is x.
Expr ResizedImages(NodeReader& a, const Expr& x, const Expr& sizes, const std::string& how,
                   bool antialias);

// The same, by what is done where the image has another ratio of height to width: it is cropped to
// that ratio around its middle first, or what it lacks is filled with a number. The sizes of x must
// be known.
enum class KerasFit { kStretch, kCrop, kPad };
Expr FittedImages(NodeReader& a, const Expr& x, int64_t height, int64_t width,
                  const std::string& how, bool antialias, KerasFit fit, double fill = 0);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_IMAGES_H_
