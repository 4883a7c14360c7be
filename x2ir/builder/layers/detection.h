// What detectors end with: boxes decoded from what a network says, and the best of those that
// overlap; and regions of images. A box is [4]: x1, y1, x2, y2, its corners. Where pixels have a
// size, a box ends at its last pixel, and its sides are larger by `pixel` (1, else 0) than the
// differences of its corners.
#ifndef X2IR_BUILDER_LAYERS_DETECTION_H_
#define X2IR_BUILDER_LAYERS_DETECTION_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// --- Decoding -----------------------------------------------------------------------------------

// A box by its middle and halves of its sides.
struct CenterBox {
  Expr x, y, half_width, half_height;
};
// Of R-CNN's code (https://arxiv.org/abs/1311.2524): part(0) and part(1) move the middle of an
// anchor, in its sides; part(2) and part(3) are the logs of how much its sides grow.
struct AnchorBox {
  Expr x, y, width, height;  // x and y: of its first corner
};
CenterBox Decoded(const AnchorBox& anchor, absl::FunctionRef<Expr(int64_t)> part);

// --- Suppression --------------------------------------------------------------------------------

// A number, or a value of one element (float32, rank 1).
struct NmsThreshold {
  std::optional<double> number;
  Expr value = nullptr;

  NmsThreshold() = default;                  // none
  NmsThreshold(double x) : number(x) {}      // NOLINT: implicit by design
  NmsThreshold(const Expr& x) : value(x) {}  // NOLINT
};
// IR's non_max_suppression: rows [n, 3] of batch, class and box; of each class the best first.
struct Suppression {
  Expr boxes, scores;                     // [batch, n, 4] and [batch, classes, n], float32
  Expr most;                              // of each class: int64, one element
  NmsThreshold overlap = {}, above = {};  // of scores: those that are not above it do not count
  bool by_middle = false;                 // boxes are x, y, width, height
};
Expr SelectBoxes(const Suppression& s);

// Boxes whose ends are moved, so that the size of pixels counts in their overlap.
Expr WithPixels(const Expr& boxes, double pixel);

// How many of a list there are of each image: int32 [images].
Expr CountByImage(const Expr& image, const Expr& images);

// Rows [n, 3] of image, class and box, and their scores [n].
struct Found {
  Expr rows, score;
};
// At most `keep` of each image (< 0: all), the best of all its classes; ties go to the first.
Found KeepBest(const Found& found, const Expr& images, int64_t keep);
// Places in the order of their groups, within one as in `by`.
Expr OrderOfGroups(const Expr& group, const Expr& by);

// The suppression that follows SSD: class by class, then the best of all.
struct ClassSuppression {
  int64_t background = -1, top = -1, keep = -1;  // < 0: none; of a class, of an image: all
  double threshold = 0, overlap = 0, pixel = 0;
};
// Of all that is left, image by image and class by class: rows [n, 6] of class, score and box;
// their places in the list of all boxes [n, 1] (int32); and how many each image has.
struct ClassBoxes {
  Expr out, index, counts;
};
// scores: [images, classes, boxes]. boxes: [images, boxes, 4]; or (`of_class`) [boxes, classes, 4],
// which is one list for all images. images: how many (int64, rank 0).
ClassBoxes SuppressByClass(const Expr& boxes, const Expr& scores, const Expr& images, bool of_class,
                           const ClassSuppression& rules);

// --- Proposals ----------------------------------------------------------------------------------

// Of candidates by sides [n] and chances [n] the `before` best ones, and which of these are left:
// at most `after`, none that overlaps a better one. What has kNoChance does not count.
constexpr double kNoChance = -1e30;
struct Candidates {
  Expr x1, y1, x2, y2, chance;
};
struct ProposalLimits {
  int64_t before, after;
  double overlap, pixel;
};
struct Proposed {
  Expr boxes, chances;  // [before, 4], [before]: the best first
  Expr chosen;          // of these: int64 [m]
};
Proposed BestProposals(const Candidates& all, const ProposalLimits& limits);

// --- Regions ------------------------------------------------------------------------------------

struct RegionSamples {
  int64_t height, width;  // of the result
  double scale;           // of coordinates
  int64_t samples;        // of a cell and axis; not above 0: as many as it has pixels
  bool aligned;           // pixels by their middles
};
// Means of samples. images [batch, channels, ..], rois [n, 4], the image of each (int64 [n]).
Expr AlignedRegions(const Expr& images, const Expr& rois, const Expr& batch,
                    const RegionSamples& how);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_DETECTION_H_
